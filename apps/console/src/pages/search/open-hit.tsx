import { FOUND_BY } from '../../model/found-by.js';
import { texts } from '../../texts/index.js';
import { LinkButton } from '../../ui/link-button.js';

interface OpenHitProps {
  readonly name: string;
  /** Null if searches do not learn. */
  readonly searchId: string | null;
}

/** Leads to the tool, whose calls are then credited to the search. */
export function OpenHit({ name, searchId }: OpenHitProps) {
  return (
    <LinkButton
      to="/tools/$name"
      params={{ name }}
      search={{ [FOUND_BY]: searchId ?? undefined }}
      small
    >
      {texts.search.open}
    </LinkButton>
  );
}
