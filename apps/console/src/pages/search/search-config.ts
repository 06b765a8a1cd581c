import { useAddressState } from '../../ui/tabs.js';

/** Settings of one search; two of them can be compared. All are part of the address. */
export interface SearchConfig {
  readonly strategy: 'hierarchical' | 'direct';
  /** Empty: what the REST API shows. */
  readonly view: string;
  /** Empty: all. */
  readonly server: string;
  /** As typed; empty: the usual one. */
  readonly threshold: string;
  readonly skillThreshold: string;
  readonly limit: number;
}

export interface ConfigEdit {
  readonly config: SearchConfig;
  readonly set: {
    readonly strategy: (value: string) => void;
    readonly view: (value: string) => void;
    readonly server: (value: string) => void;
    readonly threshold: (value: string) => void;
    readonly skillThreshold: (value: string) => void;
  };
}

export const limits = ['5', '10', '20', '50'] as const;

export function useLimit(): [string, (value: string) => void] {
  return useAddressState('limit', '10');
}

/** `suffix` tells the second of two searches from the first: `strategy-b`. */
export function useSearchConfig(suffix: '' | '-b'): ConfigEdit {
  const [strategy, setStrategy] = useAddressState(`strategy${suffix}`, 'hierarchical');
  const [view, setView] = useAddressState(`view${suffix}`, '');
  const [server, setServer] = useAddressState(`server${suffix}`, '');
  const [threshold, setThreshold] = useAddressState(`least${suffix}`, '');
  const [skillThreshold, setSkillThreshold] = useAddressState(`skill${suffix}`, '');
  const [limit] = useLimit();
  return {
    config: {
      strategy: strategy === 'direct' ? 'direct' : 'hierarchical',
      view,
      server,
      threshold,
      skillThreshold,
      limit: limits.includes(limit as (typeof limits)[number]) ? Number(limit) : 10,
    },
    set: {
      strategy: setStrategy,
      view: setView,
      server: setServer,
      threshold: setThreshold,
      skillThreshold: setSkillThreshold,
    },
  };
}

/** A share between 0 and 1; undefined for what is none. */
export function shareOf(text: string): number | undefined {
  const value = Number(text);
  return text.trim() !== '' && value >= 0 && value <= 1 ? value : undefined;
}
