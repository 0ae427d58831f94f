import { silent, type TurnWriter } from './format.ts';

/** Prints what a CLI prints when nobody asked for its event stream: the last answer, at the end. */
export function lastAnswerOnly(): TurnWriter {
  let answer = '';
  return {
    ...silent,
    text(parts) {
      answer = parts.join('');
      return '';
    },
    toolStart: () => '',
    toolEnd: () => '',
    error(error) {
      answer = error.message;
      return '';
    },
    result: () => `${answer}\n`,
  };
}
