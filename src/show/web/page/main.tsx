import { render } from 'preact';
import { dialog, OpenDialog } from './dialogs.tsx';
import { listenToKeys } from './keys.ts';
import { LoopPage } from './loop-page.tsx';
import { Overview } from './overview.tsx';
import { api, info, isConnected, openId, refusal, start, summary, trouble } from './state.ts';
import { applyTheme, nextTheme } from './theme.ts';

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
          {openId.value !== null && (
            <>
              <a href="#/">All loops</a>
              <span>{` / ${summary.value?.name ?? openId.value}`}</span>
            </>
          )}
        </span>
        <Connection />
        <button
          type="button"
          class="small-button"
          title="Light, dark, or as the system has it (t)"
          onClick={nextTheme}
        >
          Theme
        </button>
        <button type="button" class="small-button" title="Keys (?)" onClick={() => (dialog.value = 'keys')}>
          Keys
        </button>
      </header>
      <p class="trouble-bar" role="alert">
        {trouble}
      </p>
      <Content />
      <OpenDialog />
    </>
  );
}

function Connection() {
  const words = isConnected.value ? 'live' : 'not connected';
  return (
    <span class={`link ${isConnected.value === null ? '' : isConnected.value ? 'on' : 'off'}`} role="status">
      {isConnected.value !== null && (api.isLive ? words : 'report')}
    </span>
  );
}

function Content() {
  if (refusal.value !== null)
    return (
      <main class="refused" id="main">
        <h1>Not connected</h1>
        <p>{refusal.value}</p>
      </main>
    );
  if (info.value === null) return null;
  return openId.value === null ? <Overview /> : <LoopPage key={openId.value} id={openId.value} />;
}

applyTheme();
listenToKeys();
render(<App />, document.body.appendChild(document.createElement('div')));
start();
