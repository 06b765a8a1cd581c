import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { isTaken } from '../ui/list-keys.js';
import { allPages } from './pages.js';
import { openPalette } from './palette.js';

/** Time between `G` and the letter of a page. */
const SEQUENCE_MS = 1_500;

/** `⌘K` opens the palette, `/` the search page, `F` goes to the filter of the page, `G` and a letter to a page. */
export function usePageKeys(): void {
  const navigate = useNavigate();
  useEffect(() => {
    let goAt = Number.NEGATIVE_INFINITY;
    const onKey = (event: KeyboardEvent): void => {
      if ((event.metaKey || event.ctrlKey) && event.key === 'k') {
        event.preventDefault();
        openPalette();
        return;
      }
      if (isTaken(event)) return;
      if (event.timeStamp - goAt < SEQUENCE_MS) {
        goAt = Number.NEGATIVE_INFINITY;
        const page = allPages.find(({ key }) => key === event.key);
        if (page) void navigate({ to: page.path });
        return;
      }
      if (event.key === 'g') goAt = event.timeStamp;
      else if (event.key === '/') {
        event.preventDefault();
        void navigate({ to: '/search' });
      } else if (event.key === 'f') {
        const filter = document.querySelector('[data-filter-input]');
        if (!(filter instanceof HTMLElement)) return;
        event.preventDefault();
        filter.focus();
      }
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [navigate]);
}
