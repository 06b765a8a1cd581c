import { Pause, Play } from 'lucide-react';
import { FeedRow } from '../../live/feed-row.js';
import { useLiveFeed } from '../../live/live-feed.js';
import { texts } from '../../texts/index.js';
import { Button } from '../../ui/button.js';

const MOST_LINES = 60;

/** What happens now, at the right edge of a wide screen. */
export function NowRail() {
  const feed = useLiveFeed(MOST_LINES, ({ topic }) => topic !== 'audit');
  const { rate, isPaused, waiting, lines } = feed;
  const share = rate && rate.shown > 0 ? Math.round(rate.calls / rate.shown) : 1;
  const aside = isPaused
    ? texts.overview.waiting(waiting)
    : rate && [texts.overview.rate(String(rate.calls)), share > 1 && texts.overview.shown(share)];
  return (
    <aside className="border-line sticky top-0 hidden h-[calc(100vh-var(--topbar))] w-(--rail) shrink-0 flex-col border-l rail:flex">
      <div className="border-line flex h-(--pane-head) shrink-0 items-center gap-2 border-b px-4">
        <h2 className="font-semibold">{texts.overview.now}</h2>
        <span className="text-text-3 text-small">
          {Array.isArray(aside) ? aside.filter(Boolean).join(', ') : aside}
        </span>
        <Button
          kind="ghost"
          small
          icon={isPaused ? Play : Pause}
          aria-label={isPaused ? texts.overview.resume : texts.overview.pause}
          className="ml-auto"
          onClick={feed.togglePause}
        />
      </div>
      <div className="min-h-0 grow overflow-y-auto" tabIndex={0}>
        {lines.length === 0 && (
          <p className="text-text-2 px-4 py-3 text-small">{texts.overview.nothingYet}</p>
        )}
        {lines.map((line) => (
          <FeedRow key={line.id} line={line} />
        ))}
      </div>
    </aside>
  );
}
