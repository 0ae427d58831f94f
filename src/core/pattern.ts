import { RE2JS } from 're2js';
import { messageOf, RalphError } from './error.ts';

export type Pattern = { test(text: string): boolean };

/** Compiles a user's pattern for an engine that takes linear time for any pattern and text. */
export function compilePattern(source: string): Pattern {
  try {
    const compiled = RE2JS.compile(endOfText(source), RE2JS.MULTILINE);
    return { test: (text) => compiled.matcher(text).find() };
  } catch (error) {
    throw new RalphError(
      'pattern',
      `the pattern ${JSON.stringify(source)} cannot be used: ${explain(source, error)}`,
      {
        remedy: 'ralph help promise',
        cause: error,
      },
    );
  }
}

/** Replaces `\Z`, the end of the text in Python, by `\z`. */
function endOfText(source: string): string {
  return source.replace(/\\[\s\S]/g, (pair) => (pair === '\\Z' ? '\\z' : pair));
}

function explain(source: string, error: unknown): string {
  if (/\(\?<?[=!]/.test(source))
    return 'look-ahead and look-behind are not supported, because they can take for ever';
  if (/\\[1-9]|\\k<|\(\?P=/.test(source))
    return 'back-references are not supported, because they can take for ever';
  return messageOf(error);
}
