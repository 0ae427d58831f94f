import type { Mark } from '../../../journal/run-view.ts';
import { markNames } from './format.ts';

/** Each outcome has a shape of its own, so that colour is never the only sign. All fit in a circle of radius 6. */
const shapes: Readonly<Record<Mark, string>> = {
  running: 'M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0zM-2.5 0a2.5 2.5 0 1 1 5 0a2.5 2.5 0 1 1 -5 0z',
  accepted: 'M-6 0a6 6 0 1 0 12 0a6 6 0 1 0 -12 0zM-1.1 3.2L-3.8 .5L-2.7 -.6L-1.1 1L2.7 -2.8L3.8 -1.7z',
  rejected:
    'M0 -6L6 0L0 6L-6 0zM-2.6 -1.5L-1.5 -2.6L0 -1.1L1.5 -2.6L2.6 -1.5L1.1 0L2.6 1.5L1.5 2.6L0 1.1L-1.5 2.6L-2.6 1.5L-1.1 0z',
  'failed-checks': 'M0 5.5L-6 -4.5H6z',
  'went-on': 'M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z',
  'usage-limit': 'M-5 -5.5H5L1 0L5 5.5H-5L-1 0z',
  overload: 'M-4.5 -5H-1V5H-4.5zM1 -5H4.5V5H1z',
  'context-full': 'M-5 -5H5V-2.2H-5zM-5 -1.4H5V1.4H-5zM-5 2.2H5V5H-5z',
  login:
    'M-6 0a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0 -6.4 0zM-4.2 0a1.4 1.4 0 1 1 2.8 0a1.4 1.4 0 1 1 -2.8 0zM.6 -1.1H6V3.2H4.2V1.1H.6z',
  'no-credit': 'M-6 -4.5H6V4.5H-6zM-6 -2.5V-.5H6V-2.5z',
  failed:
    'M-5.5 -3.4L-3.4 -5.5L0 -2.1L3.4 -5.5L5.5 -3.4L2.1 0L5.5 3.4L3.4 5.5L0 2.1L-3.4 5.5L-5.5 3.4L-2.1 0z',
  'needs-person': 'M0 -6L5.7 4.5H-5.7zM-.8 -2.5H.8L.5 1H-.5zM-.8 2H.8V3.5H-.8z',
  stopped: 'M-4.5 -4.5H4.5V4.5H-4.5z',
  cut: 'M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0zM-3.4 0a3.4 3.4 0 1 1 6.8 0a3.4 3.4 0 1 1 -6.8 0z',
};

type ShapeProps = { readonly mark: Mark; readonly x: number; readonly y: number; readonly scale?: number };

export function MarkShape({ mark, x, y, scale = 1 }: ShapeProps) {
  const transform = `translate(${x} ${y}) scale(${scale})`;
  return <path d={shapes[mark]} class={`mark ${mark}`} fill-rule="evenodd" transform={transform} />;
}

export function MarkIcon({ mark }: { readonly mark: Mark }) {
  return (
    <svg viewBox="-7 -7 14 14" class="mark-icon" role="img" aria-label={markNames[mark]}>
      <MarkShape mark={mark} x={0} y={0} />
    </svg>
  );
}

type CellProps = { readonly top: number; readonly width: number };

/** How a check of an iteration came out; it knows its command for a click on it. */
export function CheckCell({ ok, command, top, width }: CellProps & { ok: boolean | null; command: string }) {
  const size = Math.min(18, width - 3);
  const state = ok === null ? 'running' : ok ? 'pass' : 'fail';
  const sign = ok ? 'M-4.5 .3L-1.5 3.3L4.5 -3' : 'M-3.5 -3.5L3.5 3.5M3.5 -3.5L-3.5 3.5';
  const box = { x: (width - size) / 2, y: top + (18 - size) / 2, width: size, height: size, rx: 3 };
  const middle = `translate(${width / 2} ${top + 9}) scale(${size / 18})`;
  return (
    <>
      <rect {...box} class={`cell ${state}`} data-check={command} />
      {ok !== null && <path d={sign} class="sign" transform={middle} />}
    </>
  );
}

export function CommitSign({ count, top, width }: CellProps & { readonly count: number }) {
  const turned = `rotate(45 ${width / 2} ${top + 4})`;
  return (
    <>
      <rect x={width / 2 - 4} y={top} width={8} height={8} class="commit" transform={turned} />
      {count > 1 && width > 26 && (
        <text x={width / 2 + 9} y={top + 8} class="small">
          {count}
        </text>
      )}
    </>
  );
}
