import { useEffect, useState } from 'preact/hooks';
import { drawAnsi } from './ansi-text.tsx';
import { api } from './state.ts';

/** The screen of a worker, looked at again and again while it is on the page. */
export function Terminal({ loop }: { readonly loop: string }) {
  const [screen, setScreen] = useState('');
  useEffect(() => {
    let timer = 0;
    let isOver = false;
    async function look(): Promise<void> {
      if (!document.hidden) {
        const { screen: text } = await api.screen(loop).catch(() => ({ screen: null }));
        setScreen(text?.replace(/\s+$/, '') ?? 'Nothing to see at the moment.');
      }
      if (!isOver) timer = window.setTimeout(look, 1000);
    }
    look();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, []);
  return (
    <pre class="terminal" tabIndex={0} role="group" aria-label="The screen of the worker">
      {drawAnsi(screen)}
    </pre>
  );
}
