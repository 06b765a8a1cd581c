import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { SuggestionView } from '@app/api-client';
import { Check, Lightbulb, X } from 'lucide-react';
import { useMay } from '../../session/session.js';
import { texts } from '../../texts/index.js';
import { Button } from '../../ui/button.js';
import { VisibleText } from '../../ui/diff/visible-text.js';
import { Pane } from '../../ui/pane.js';
import { TimeAgo } from '../../ui/time.js';
import { suggestionsQuery, useReviewSuggestion } from './skill-queries.js';

/** Skills that a classifier missed; a person adds or rejects each. */
export function Suggestions() {
  const { data } = useQuery(suggestionsQuery);
  const mayReview = useMay('operate');
  const review = useReviewSuggestion();
  if (!data || data.suggestions.length === 0) return null;
  return (
    <Pane
      title={texts.skills.suggestions}
      aside={`${data.suggestions.length}. ${texts.skills.suggestionsHint}`}
    >
      <ul>
        {data.suggestions.map((suggestion) => (
          <Suggestion
            key={suggestion.id}
            suggestion={suggestion}
            {...(mayReview && {
              onReview: (verdict: 'approve' | 'reject') => review.mutate({ suggestion, verdict }),
            })}
          />
        ))}
      </ul>
      {!mayReview && (
        <p className="text-text-2 px-5 py-2 text-small">{texts.skills.reviewNoScope}</p>
      )}
    </Pane>
  );
}

interface SuggestionProps {
  readonly suggestion: SuggestionView;
  readonly onReview?: (verdict: 'approve' | 'reject') => void;
}

function Suggestion({ suggestion, onReview }: SuggestionProps) {
  const { name, description, tool_ids: toolIds, suggested_by: by, created_at: at } = suggestion;
  return (
    <li className="border-line flex flex-wrap items-center gap-x-4 gap-y-2 border-t px-5 py-2.5">
      <Lightbulb size={16} aria-hidden className="text-warn shrink-0" />
      <div className="min-w-0 flex-1 basis-60">
        <p>
          <span className="font-medium">
            <VisibleText>{name}</VisibleText>
          </span>{' '}
          <span className="text-text-3 text-small">
            {texts.skills.suggestedBy(by)}, <TimeAgo at={at} />
          </span>
        </p>
        <p className="text-text-2 [overflow-wrap:anywhere]">
          <VisibleText>{description}</VisibleText>
        </p>
        <p className="flex flex-wrap gap-x-3 text-small">
          {toolIds.slice(0, 8).map((id) => (
            <Link key={id} to="/tools/$name" params={{ name: id }}>
              {texts.skills.toolNumber(id)}
            </Link>
          ))}
          {toolIds.length > 8 && <span>{texts.skills.more(toolIds.length - 8)}</span>}
        </p>
      </div>
      {onReview && (
        <div className="flex gap-2">
          <Button icon={X} onClick={() => onReview('reject')}>
            {texts.skills.reject}
          </Button>
          <Button icon={Check} onClick={() => onReview('approve')}>
            {texts.skills.approve}
          </Button>
        </div>
      )}
    </li>
  );
}
