import type { Handler, Handlers } from '../call.ts';
import { byName } from './rules.ts';

const starts =
  /\b\w*(?:system|[sS]hell|cmd|[cC]ommand|exec|run-program)(?:-to-string)?\s*(?:\(\s*)?(?:~c)?["'`]([^"'`]+)["'`]|["']([^"']+)["']\s*\.execute\s*\(|\brun\s*\(\s*`([^`]+)`/g;
const deletes =
  /(?<![\w.-])(?:[\w.]*\.)?(?:rm|unlink|remove|delete)[\w/*-]*!?\s*(?:\(\s*)?(?:\w+:\s*)?["']([^"']+)["']|\bFile\s*\(\s*["']([^"']+)["']\s*\)\.delete/g;

/** Judges plain calls with literals in languages that the guard cannot parse. */
export function otherLanguage(pattern = starts): Handler {
  return (call) => {
    const code = [...call.words, call.stdin ?? ''].join('\n');
    for (const [, ...texts] of code.matchAll(pattern)) call.script(texts.find(Boolean) ?? '');
    for (const [, ...paths] of code.matchAll(deletes))
      call.file('delete', (paths.find(Boolean) ?? '').replace(/^~(?=\/|$)/, call.context.home), {
        recursive: true,
      });
  };
}

const machineCmdlets =
  /\b(format-volume|clear-disk|stop-computer|restart-computer|set-executionpolicy|set-mppreference|(stop|remove|set|restart)-service|(new|remove|set)-local\w+|disable-\w+|stop-process\b.*-name)\b/i;

export const powershell: Handlers = byName({
  'powershell pwsh powershell.exe': (call) => {
    const at = call.words.findIndex((word) => /^-(c|command)$/i.test(word));
    const code =
      at === -1
        ? call.words.filter((word) => !word.startsWith('-')).join(' ')
        : call.words.slice(at + 1).join(' ');
    if (call.words.some((word) => /^-e(nc(odedcommand)?|c)?$/i.test(word)))
      call.deny('obfuscation', 'runs an encoded command');
    if (
      /\b(iex|invoke-expression)\b/i.test(code) &&
      /\b(iwr|irm|invoke-webrequest|invoke-restmethod|downloadstring|curl|wget)\b/i.test(code)
    )
      call.deny('remote-code', 'runs code from the network');
    if (/\bsockets\.tcp/i.test(code))
      call.deny('remote-shell', 'opens a connection to another machine', 'Use curl.');
    const removed = [
      ...code.matchAll(/(?:^|[;|&{(\n])\s*(?:remove-item|rm|del|rd|ri|erase)\s+([^;|}]*)/gi),
      // What is listed comes through the pipe.
      ...(/\|\s*(?:remove-item|rm|del|rd|ri|erase)\b/i.test(code)
        ? code.matchAll(/\b(?:get-childitem|gci|dir|ls)\s+([^;|}]*)\|/gi)
        : []),
    ];
    for (const [, words = ''] of removed) {
      for (const word of words.split(/\s+/)) {
        const path = word
          .replace(/["']/g, '')
          .replace(/^\$(HOME|env:HOME|env:USERPROFILE)|^~/i, call.context.home);
        if (path !== '' && !path.startsWith('-'))
          call.file('delete', path.replaceAll('\\', '/').replace(/^[a-z]:\/*/i, '/'), { recursive: true });
      }
    }
    if (machineCmdlets.test(code)) call.deny('system-config', 'changes the machine');
  },
});
