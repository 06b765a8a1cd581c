import {
  Activity,
  Cable,
  KeySquare,
  Layers,
  LayoutDashboard,
  type LucideIcon,
  Network,
  PlugZap,
  Search,
  Server,
  Shapes,
  ShieldCheck,
  SlidersHorizontal,
  UserRoundKey,
  Wrench,
} from 'lucide-react';
import type { Scope } from '../session/session.js';
import { texts } from '../texts/index.js';

export interface PageLink {
  readonly path: string;
  readonly label: string;
  readonly icon: LucideIcon;
  /** Pressed after `G`. */
  readonly key: string;
  readonly scope: Scope;
}

const { nav } = texts;

/** The pages of the navigation, in its order and groups. */
export const pageGroups: readonly {
  readonly heading?: string;
  readonly pages: readonly PageLink[];
}[] = [
  {
    pages: [
      { path: '/', label: nav.overview, icon: LayoutDashboard, key: 'o', scope: 'read' },
      { path: '/activity', label: nav.activity, icon: Activity, key: 'a', scope: 'read' },
    ],
  },
  {
    heading: nav.catalogue,
    pages: [
      { path: '/servers', label: nav.servers, icon: Server, key: 's', scope: 'read' },
      { path: '/tools', label: nav.tools, icon: Wrench, key: 't', scope: 'read' },
      { path: '/skills', label: nav.skills, icon: Shapes, key: 'k', scope: 'read' },
    ],
  },
  {
    heading: nav.ask,
    pages: [
      { path: '/search', label: nav.search, icon: Search, key: 'f', scope: 'read' },
      { path: '/query', label: nav.query, icon: Network, key: 'q', scope: 'call' },
    ],
  },
  {
    heading: nav.control,
    pages: [
      { path: '/approvals', label: nav.approvals, icon: ShieldCheck, key: 'p', scope: 'read' },
      { path: '/views', label: nav.views, icon: Layers, key: 'v', scope: 'operate' },
      { path: '/access', label: nav.access, icon: UserRoundKey, key: 'c', scope: 'operate' },
      { path: '/sessions', label: nav.sessions, icon: Cable, key: 'e', scope: 'read' },
    ],
  },
  {
    heading: nav.setUp,
    pages: [
      {
        path: '/connections',
        label: nav.connections,
        icon: KeySquare,
        key: 'm',
        scope: 'read',
      },
      { path: '/connect', label: nav.connect, icon: PlugZap, key: 'n', scope: 'read' },
      { path: '/settings', label: nav.settings, icon: SlidersHorizontal, key: ',', scope: 'read' },
    ],
  },
];

export const allPages = pageGroups.flatMap(({ pages }) => pages);

/** At the bottom of a phone; the rest is behind `More`. */
export const phonePages = ['/', '/servers', '/search', '/approvals'];
