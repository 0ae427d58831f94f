import { feed } from '../feed.ts';
import { isOpaque, UNKNOWN } from '../marks.ts';
import type { Call } from '../model.ts';
import { found } from './calls.ts';
import type { Code } from './code.ts';
import { evaluate, listOf } from './values.ts';

/** Programs whose output goes where that of the code goes, without a word about it. */
const inherits =
  /^(os\.(system|exec|spawn)|(subprocess|sp|s)\.(run|call|check_call|Popen)$|system|exec$|passthru)/;

export function execution(call: Call, code: Code, name: string, args: readonly string[]): string {
  const output = started(call, code, name, args);
  const options = args.slice(1).join(' ');
  const shown =
    /inherit/.test(options) || (inherits.test(name) && !/capture_output|stdout\s*=/.test(options));
  // What is caught is mostly caught to be printed.
  const told = isOpaque(output) && /\b(print|console\.log|puts|echo|say|stdout\.write)\b/.test(code.masked);
  return shown || told ? output : '';
}

function started(call: Call, code: Code, name: string, args: readonly string[]): string {
  const [first = '', second] = args.map((arg) => arg.replace(/^args\s*=\s*/, ''));
  const [, at = ''] = /(?:^|[{,\s])cwd\s*[:=]\s*([^,}]+)/.exec(args.slice(1).join(', ')) ?? [];
  const cwd = at === '' ? UNKNOWN : evaluate(code, at);
  const input = args.find((arg) => /^input\s*=/.test(arg))?.replace(/^input\s*=/, '');
  const [, [told = input] = []] = found(code, /\.communicate\s*\(/g)[0] ?? [];
  const stdin = told === undefined ? null : evaluate(code, told);
  const more = { stdin, ...(isOpaque(cwd) ? {} : { cwd }) };
  const list = listOf(code, first);
  const others = second === undefined ? null : listOf(code, second);
  const texts = args
    .filter((arg) => !/^\w+\s*=[^=]|^\{|^(function|\()/.test(arg))
    .map((arg) => evaluate(code, arg));
  if (/pty\.spawn/.test(name) && /socket/.test(code.masked)) return '';
  if (list)
    return call.run(
      list.filter((word) => word !== ''),
      more,
    );
  if (others && !/^\s*\{/.test(second ?? ''))
    return call.run(
      /execv|execl|posix_spawn/.test(name)
        ? [texts[0] ?? '', ...others.slice(1)]
        : [texts[0] ?? '', ...others],
      more,
    );
  if (
    texts.length > 1 &&
    (/^exec\.Command$|subprocess_exec$/.test(name) ||
      (/^(system|exec|os\.execl\w*|os\.spawn\w*)$/.test(name) && /perl|ruby|python/.test(code.language)))
  )
    return call.run(
      texts.filter((word) => word !== ''),
      more,
    );
  if (code.language === 'python' && name === 'exec') return '';
  return feed(call, texts[0] ?? '', (text) => call.script(text, more));
}
