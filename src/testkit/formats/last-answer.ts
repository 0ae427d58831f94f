import type { TurnWriter } from './format.ts';

/** What a CLI prints when nobody asked for its event stream: the last answer, at the end. */
export function lastAnswerOnly(): TurnWriter {
  let answer = '';
  const nothing = () => '';
  return {
    start: nothing,
    text(parts) {
      answer = parts.join('');
      return '';
    },
    thinking: nothing,
    toolStart: nothing,
    toolEnd: nothing,
    todo: nothing,
    subagent: nothing,
    echo: nothing,
    error(error) {
      answer = error.message;
      return '';
    },
    result: () => `${answer}\n`,
  };
}
