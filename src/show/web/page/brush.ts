import { useSignal } from '@preact/signals';

/** Two moments on the line of time. */
export type Range = readonly [from: number, to: number];

/** Lets the pointer draw a range. A press without a move, shorter than `least`, is a click. */
export function useBrush(
  momentAt: (event: PointerEvent) => number,
  least: number,
  end: (range: Range | null, moment: number) => void,
) {
  const range = useSignal<Range | null>(null);
  return {
    range,
    events: {
      onPointerDown(event: PointerEvent): void {
        if (event.button !== 0) return;
        range.value = [momentAt(event), momentAt(event)];
        if (event.currentTarget instanceof Element) event.currentTarget.setPointerCapture(event.pointerId);
      },
      onPointerMove(event: PointerEvent): void {
        if (range.value !== null) range.value = [range.value[0], momentAt(event)];
      },
      onPointerUp(event: PointerEvent): void {
        if (range.value === null) return;
        const [a, b] = [range.value[0], momentAt(event)];
        range.value = null;
        end(Math.abs(b - a) < least ? null : [Math.max(0, Math.min(a, b)), Math.max(a, b)], b);
      },
      onPointerCancel(): void {
        range.value = null;
      },
    },
  };
}
