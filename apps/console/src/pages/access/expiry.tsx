import { texts } from '../../texts/index.js';
import { StateMark } from '../../ui/state-mark.js';
import { age, exactTime } from '../../ui/format.js';
import { useNow } from '../../ui/time.js';

const { access: t } = texts;

/** `in 6 d`, with the exact time on hover; null: it has no end. */
export function Expiry({ at }: { readonly at: string | null }) {
  const now = useNow();
  if (at === null) return <span className="text-text-2">{t.noEnd}</span>;
  const left = new Date(at).getTime() - now;
  if (left <= 0) return <StateMark state="off">{t.expired}</StateMark>;
  return (
    <time dateTime={at} title={exactTime(at)} className="whitespace-nowrap">
      {t.inTime(age(left))}
    </time>
  );
}
