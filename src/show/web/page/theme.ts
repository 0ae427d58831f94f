type Theme = 'auto' | 'light' | 'dark';

const key = 'ralph-theme';
const order: readonly Theme[] = ['auto', 'light', 'dark'];

/** As the system has it, until somebody says otherwise. */
export function applyTheme(theme: Theme = saved()): Theme {
  if (theme === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  return theme;
}

export function nextTheme(): Theme {
  const next = order[(order.indexOf(saved()) + 1) % order.length] ?? 'auto';
  try {
    localStorage.setItem(key, next);
  } catch {
    // A page from disk may have no storage; the choice then lasts as long as the page.
  }
  return applyTheme(next);
}

function saved(): Theme {
  try {
    const theme = localStorage.getItem(key);
    return order.find((one) => one === theme) ?? 'auto';
  } catch {
    return order.find((one) => one === document.documentElement.dataset.theme) ?? 'auto';
  }
}
