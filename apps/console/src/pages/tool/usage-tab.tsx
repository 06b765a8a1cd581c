import { CallCharts } from '../../stats/call-charts.js';
import { texts } from '../../texts/index.js';
import { LinkButton } from '../../ui/link-button.js';

interface UsageTabProps {
  readonly server: string;
  /** Its name at the server. */
  readonly tool: string;
}

/** How often the tool was called, how long it took, how often it failed. */
export function UsageTab({ server, tool }: UsageTabProps) {
  return (
    <CallCharts
      of={{ server, tool }}
      empty={
        <LinkButton
          to="/tools/$name"
          params={{ name: `${server}.${tool}` }}
          search={{ tab: 'try' }}
        >
          {texts.tool.tryIt}
        </LinkButton>
      }
    />
  );
}
