import type { BlockAnswer, ModelAnswer, ModelError, ModelScript } from './script.ts';

/** What a request gets: an answer, an error, or the refusal of a plan that is used up until `limitedUntil`. */
export type Served = { readonly index: number } & (
  | { readonly answer: BlockAnswer }
  | { readonly error: ModelError }
  | { readonly limitedUntil: number }
);

/** Gives the answers of a script in order. `now` is in epoch milliseconds. */
export function createPlayer({ answers }: ModelScript, now: () => number): () => Served {
  let index = 0;
  let given = 0;
  let limitedUntil: number | null = null;

  const last = answers.length - 1;
  const current = (): ModelAnswer => answers[index] ?? { blocks: [] };
  const move = (): void => {
    index = Math.min(index + 1, last);
    given = 0;
    limitedUntil = null;
  };

  return function serve(): Served {
    const before = current();
    if (!('limit' in before) && given >= (before.repeat ?? 1)) move();
    if (limitedUntil !== null && now() >= limitedUntil) move();
    const answer = current();
    given += 1;
    if ('error' in answer) return { index, error: answer.error };
    if (!('limit' in answer)) return { index, answer };
    // Providers tell whole seconds.
    limitedUntil ??= Math.ceil(now() / 1000 + answer.limit.seconds) * 1000;
    return { index, limitedUntil };
  };
}
