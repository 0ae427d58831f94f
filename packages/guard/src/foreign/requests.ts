import type { Call } from '../call.ts';
import { hostOf, isLocal, sends } from '../commands/hosts.ts';
import { isOpaque, NETWORK, UNKNOWN } from '../marks.ts';
import { callsIn, firstValues, isKnown, patterns, runs } from './calls.ts';
import type { Code } from './code.ts';

const runsText = /(?<![.\w])(?:exec|eval|Function|loadstring|instance_eval)\s*[( ]|\bvm\.run\w+\(/;

export function keepsFetched(call: Call, code: Code): void {
  const fetches =
    call.stdin?.includes(NETWORK) ||
    firstValues(code, sending).some((url) => /^https?:/.test(url) && !isLocal(hostOf(url)));
  if (fetches) {
    const opened = callsIn(code, patterns.opens).filter(({ value }) => /^[wax]/.test(value(1)));
    for (const path of [...firstValues(code, patterns.writes), ...opened.map(({ value }) => value())])
      if (isKnown(path)) call.keep(path, NETWORK);
  }
  const files = [
    ...(runsText.test(code.masked)
      ? [...firstValues(code, patterns.opens), ...firstValues(code, patterns.reads)]
      : []),
    ...firstValues(code, /(?<!\.)\b(?:require|load|do)\s*[( ]/g),
  ].filter((file) => file !== '' && !isOpaque(file) && !/\.(json|csv|txt|ya?ml)$/.test(file));
  if (files.some((file) => call.content(file).includes(NETWORK)))
    call.deny('remote-code', 'runs what comes from the network');
}

const sending =
  /\b(?:fetch|urlopen|Request|requests\.\w+|httpx\.\w+|axios(?:\.\w+)?|got(?:\.\w+)?|https?\.(?:get|request)|Net::HTTP\.\w+|URI(?:\.open)?|file_get_contents|curl_init|lookup|resolve\w*|gethostbyname|getaddrinfo|post_form|(?:->|\.)(?:post|put|patch|request))\s*\(/g;

/** Secrets that go to a host which they are not for, and commands that come from one. */
export function requests(call: Call, code: Code): void {
  const calls = callsIn(code, sending);
  for (const { name, args, value } of calls) {
    const texts = args.map((_, i) => value(i));
    const host = hostOf(texts[0] ?? '');
    const isAddress =
      /^https?:\/\//.test(texts[0] ?? '') || (/lookup|resolve|get\w+$/.test(name) && host.includes('.'));
    if (!isAddress || host.startsWith(UNKNOWN)) continue;
    sends(call, texts.join(' '), host, true);
    const isDelete =
      /\.delete$/.test(name) || /\bmethod["']?\s*[:=]\s*["']DELETE\b/i.test(args.slice(1).join(' '));
    if (isDelete && !isLocal(host)) call.deny('cloud', `deletes something on ${host}`);
  }
  if (calls.length === 0 || !/https?:\/\/(?!localhost|127\.|\[::1\])/.test(code.source)) return;
  const started = callsIn(code, runs).filter(({ name }) => /exec|system|popen|run|call|spawn/i.test(name));
  if (started.some(({ value }) => value() === UNKNOWN))
    call.deny('remote-code', 'runs what comes from the network');
}
