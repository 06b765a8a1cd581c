import { effectsOf } from '../model/annotations.js';
import { Badge } from './badge.js';

/** What a server says of the effects of its tool. */
export function Effects({
  annotations,
}: {
  readonly annotations: Readonly<Record<string, unknown>>;
}) {
  return (
    <span className="inline-flex flex-wrap gap-1">
      {effectsOf(annotations).map(({ word, icon: Icon, tint }) => (
        <Badge key={word} tint={tint} className="gap-1">
          <Icon size={12} aria-hidden /> {word}
        </Badge>
      ))}
    </span>
  );
}
