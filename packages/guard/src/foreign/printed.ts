import { PRIVATE, UNKNOWN } from '../marks.ts';
import { found } from './calls.ts';
import type { Code } from './code.ts';
import { evaluate } from './values.ts';

const showsEnvironment =
  /\bof\s+Object\.(?:entries|values)\(\s*process\.env\s*\)|\bObject\.(?:entries|values)\(\s*process\.env\s*\)\.|\bin\s+process\.env\b[\s\S]{0,200}\benv\[\w+\]/;

/** Returns what the code prints, since a shell may run it next. */
export function printed(code: Code): string {
  const parts = found(
    code,
    /\b(?:print|console\.\w+|puts|echo|process\.std(?:out|err)\.write|sys\.std(?:out|err)\.write|say|warn|die|print_r|var_dump|pprint|pp?|Error|SystemExit)\s*[( ]/g,
  ).map(({ args }) =>
    args
      .filter((arg) => !/^(end|sep|file|flush)\s*=/.test(arg))
      .map((arg) => evaluate(code, arg))
      .join(' '),
  );
  if (parts.length === 0) return UNKNOWN;
  return showsEnvironment.test(code.masked) ? PRIVATE : `${parts.join('\n')}\n`;
}
