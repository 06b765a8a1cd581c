/** What the user chose; `system` follows the operating system. */
export type Theme = 'system' | 'light' | 'dark';

const KEY = 'switchboard.theme';
const systemIsDark = window.matchMedia('(prefers-color-scheme: dark)');

export function chosenTheme(): Theme {
  const kept = localStorage.getItem(KEY);
  return kept === 'light' || kept === 'dark' ? kept : 'system';
}

export function chooseTheme(theme: Theme): void {
  if (theme === 'system') localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, theme);
  applyTheme();
}

/** Sets the attribute that the tokens follow. */
export function applyTheme(): void {
  const theme = chosenTheme();
  const shown = theme === 'system' ? (systemIsDark.matches ? 'dark' : 'light') : theme;
  document.documentElement.dataset['theme'] = shown;
}

export function followSystemTheme(): void {
  applyTheme();
  systemIsDark.addEventListener('change', applyTheme);
}
