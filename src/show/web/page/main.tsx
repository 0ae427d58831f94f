import { render, type TargetedSubmitEvent } from 'preact';
import { Refusal } from './api.ts';
import { dialog, OpenDialog } from './dialogs.tsx';
import { duration } from './format.ts';
import { listenToKeys } from './keys.ts';
import { LoopPage } from './loop-page.tsx';
import { Overview } from './overview.tsx';
import { lazy, Message, SmallButton, Waiting } from './parts.tsx';
import {
  api,
  info,
  isConnected,
  now,
  openId,
  refusal,
  restart,
  screen,
  seenAt,
  start,
  summary,
  trouble,
} from './state.ts';
import { applyTheme, nextTheme } from './theme.ts';

const Trends = lazy(async () => (await import('./trends.tsx')).Trends, Waiting);
const Compare = lazy(async () => (await import('./compare.tsx')).Compare, Waiting);

function App() {
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="top">
        <a class="brand" href="#/">
          ralph
        </a>
        <span class="crumb">
          {openId.value !== null && <span>{summary.value?.title || openId.value}</span>}
        </span>
        <nav class="pages" aria-label="Pages">
          <a href="#/" aria-current={screen.value === 'loops' ? 'page' : undefined}>
            Loops
          </a>
          <a href="#/trends" aria-current={screen.value === 'trends' ? 'page' : undefined}>
            Trends
          </a>
        </nav>
        <Connection />
        <SmallButton text="Theme" title="Light, dark, or as the system has it (t)" onClick={nextTheme} />
        <SmallButton text="Keys" looks="to-keys" title="Keys (?)" onClick={() => (dialog.value = 'keys')} />
      </header>
      <p class="trouble-bar" role="alert">
        {restart.value === null
          ? trouble
          : `This dashboard was ended; your loops are not. Start it again with ${restart.value}, and open the address that it prints.`}
      </p>
      <Content />
      <OpenDialog />
    </>
  );
}

function Connection() {
  const age = duration(Math.max(0, now.value - seenAt.value));
  const words = isConnected.value ? 'live' : `not connected, data is ${age} old; trying again`;
  return (
    <span class={`link ${isConnected.value === null ? '' : isConnected.value ? 'on' : 'off'}`} role="status">
      {isConnected.value !== null && (api.isLive ? words : 'report')}
    </span>
  );
}

function Content() {
  if (refusal.value !== null) return <Refused refusal={refusal.value} />;
  if (info.value === null) return <Waiting />;
  if (screen.value === 'trends') return <Trends />;
  if (screen.value === 'compare') return <Compare />;
  return openId.value === null ? <Overview /> : <LoopPage key={openId.value} id={openId.value} />;
}

function Refused({ refusal }: { readonly refusal: Error }) {
  const status = refusal instanceof Refusal ? refusal.status : null;
  if (status === 404)
    return (
      <Message title="There is no such loop" text={openId.value ?? ''}>
        <a href="#/">All loops</a>
      </Message>
    );
  if (status !== 401) return <Message title="Not connected" text={refusal.message} />;
  return (
    <Message title="Not connected" text={refusal.message}>
      <form onSubmit={useToken}>
        <input name="address" aria-label="Address or token" placeholder="Address or token" required />
        <button type="submit">Open</button>
      </form>
    </Message>
  );
}

/** Starts anew with the token of the address that was printed, or of its end. */
function useToken(event: TargetedSubmitEvent<HTMLFormElement>): void {
  event.preventDefault();
  const address = String(new FormData(event.currentTarget).get('address'));
  location.hash = `#token=${address.split('token=').at(-1)?.trim()}`;
  location.reload();
}

applyTheme();
listenToKeys();
render(<App />, document.body.appendChild(document.createElement('div')));
start();
