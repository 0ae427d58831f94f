import type { StoryState } from '../../../journal/loop-schemas.ts';
import { depthsOf } from './story-figures.ts';

const boxWidth = 96;
const boxHeight = 28;
const stepX = 138;
const stepY = 40;

/** Which story waits for which: those at the left come first. */
export function Dependencies({ stories }: { readonly stories: readonly StoryState[] }) {
  if (stories.every(({ dependsOn }) => dependsOn.length === 0)) return null;
  const depths = depthsOf(stories);
  const rows = new Map<number, number>();
  const places = new Map(
    stories.map(({ id }) => {
      const depth = depths.get(id) ?? 0;
      const row = rows.get(depth) ?? 0;
      rows.set(depth, row + 1);
      return [id, { x: 2 + depth * stepX, y: 2 + row * stepY }] as const;
    }),
  );
  const width = Math.max(...rows.keys()) * stepX + boxWidth + 4;
  const height = Math.max(...rows.values()) * stepY;
  const links = stories.flatMap(({ id, dependsOn }) => dependsOn.map((other) => ({ id, other })));
  const words = links.map(({ id, other }) => `${id} after ${other}`).join(', ');
  return (
    <figure class="dependencies">
      <figcaption>What waits for what</figcaption>
      <div class="table-box" tabIndex={0} role="group" aria-label="Dependencies">
        <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={words}>
          {links.map(({ id, other }) => {
            const [from, to] = [places.get(other), places.get(id)];
            if (from === undefined || to === undefined) return null;
            const [x1, y1] = [from.x + boxWidth, from.y + boxHeight / 2];
            const [x2, y2] = [to.x, to.y + boxHeight / 2];
            const bend = (x2 - x1) / 2;
            return (
              <path class="dependency" d={`M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`} />
            );
          })}
          {stories.map(({ id, title, passes, reviewStatus }) => {
            const { x, y } = places.get(id) ?? { x: 0, y: 0 };
            const state = passes ? 'done' : reviewStatus === null ? 'todo' : 'review';
            return (
              <g class={`story-node ${state}`}>
                <title>{title}</title>
                <rect x={x} y={y} width={boxWidth} height={boxHeight} rx={6} />
                <text x={x + boxWidth / 2} y={y + 18} class="node-name">
                  {`${passes ? '✓ ' : ''}${id.slice(0, 12)}`}
                </text>
              </g>
            );
          })}
        </svg>
      </div>
    </figure>
  );
}
