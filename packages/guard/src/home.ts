import type { Shell } from './model.ts';

/** `~` counts only where it is written without quotes; `value` is the same text without backslashes. */
export function withHome(text: string, value: string, shell: Shell): string {
  if (!text.startsWith('~')) return value;
  const home = shell.variables.get('HOME')?.items[0] ?? shell.world.context.home;
  const [, user = ''] = /^~([\w.+-]*)(?=\/|$)/.exec(text) ?? [];
  if (user === '' || home.endsWith(`/${user}`)) return home + value.slice(1 + user.length);
  if (user === '+') return shell.cwd + value.slice(2);
  if (user === 'root') return `/root${value.slice(5)}`;
  return /^[\w.-]+$/.test(user) ? `/home/${value.slice(1)}` : value;
}
