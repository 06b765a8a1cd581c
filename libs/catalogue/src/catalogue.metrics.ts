import { gauge } from '@app/platform';
import { Catalogue } from './catalogue.js';

export const catalogueMetrics = [
  gauge({
    name: 'mcp_aggregator_tools_total',
    help: 'Tools of all registered servers',
    inject: [Catalogue],
    collect(catalogue: Catalogue) {
      this.set(catalogue.current.tools.filter((tool) => tool.isExternal).length);
    },
  }),
  gauge({
    name: 'mcp_aggregator_tools_withheld',
    help: 'Tools that are not offered until their definition is approved',
    inject: [Catalogue],
    collect(catalogue: Catalogue) {
      this.set(catalogue.current.withheld.tools.length);
    },
  }),
  gauge({
    name: 'mcp_aggregator_tools_classified',
    help: 'Tools that have at least one skill',
    inject: [Catalogue],
    collect(catalogue: Catalogue) {
      const { tools } = catalogue.current;
      this.set(tools.filter((tool) => tool.isExternal && tool.isClassified).length);
    },
  }),
];
