import { type Signal, useSignal } from '@preact/signals';
import type { RunView } from '../../../journal/run-view.ts';
import { describeIteration } from './format.ts';
import { hovered } from './state.ts';

type Tip = { readonly x: number; readonly y: number; readonly text: string };

/** A line of words at the pointer, within the box that it moves in. */
export function useTooltip() {
  const tip = useSignal<Tip | null>(null);
  return {
    tip,
    show({ clientX, clientY, currentTarget }: MouseEvent, text: string): void {
      const box = currentTarget instanceof Element ? currentTarget.closest('.chart-box') : null;
      const { left = 0, top = 0 } = box?.getBoundingClientRect() ?? {};
      tip.value = text === '' ? null : { x: clientX - left, y: clientY - top, text };
    },
    hide(): void {
      tip.value = null;
    },
  };
}

/** Tells about the iteration under the pointer; all charts mark it. */
export function useHover({ view, at }: Pick<ChartProps, 'view' | 'at'>) {
  const { tip, show, hide } = useTooltip();
  return {
    tip,
    enter(event: MouseEvent, index: number | null): void {
      hovered.value = index;
      show(event, describeIteration(view.iterations[index ?? -1], view, at));
    },
    leave(): void {
      hovered.value = null;
      hide();
    },
  };
}

export type ChartProps = { readonly view: RunView; readonly selected: number; readonly at: number };

export function Tooltip({ tip }: { readonly tip: Signal<Tip | null> }) {
  if (tip.value === null) return null;
  const { x, y, text } = tip.value;
  const isRight = x > window.innerWidth / 2;
  const place = isRight ? { right: `calc(100% - ${x - 12}px)` } : { left: `${x + 12}px` };
  return (
    <div class="tooltip" style={{ ...place, top: `${y + 14}px` }} aria-hidden="true">
      {text.split('\n').map((line) => (
        <span>{line}</span>
      ))}
    </div>
  );
}
