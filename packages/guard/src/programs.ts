import { builtins } from './builtins.ts';
import type { Call } from './call.ts';
import { handlerOf, programNames } from './commands/all.ts';
import { mentionSecrets } from './feed.ts';
import { DECODED, hasGlob, mayMatch, NETWORK, UNKNOWN } from './marks.ts';

export function perform(call: Call): string {
  const builtin = Object.hasOwn(builtins, call.name) ? builtins[call.name] : undefined;
  const output = builtin?.(call) ?? null;
  if (output !== null) return output;
  const handler = handlerOf(call.name);
  runsFetched(call);
  changesService(call);
  if (handler) return markOrigin(handler(call) ?? UNKNOWN, call);
  mentionSecrets(call, call.words);
  startsAnother(call);
  writeOutput(call);
  destroysUnasked(call);
  touchesMachine(call);
  return markOrigin(UNKNOWN, call);
}

/** Output of a program whose input came from the network or a decoder counts as such, too. */
function markOrigin(output: string, call: Call): string {
  if (!call.stdin && !call.shell.world.files.hasFetched) return output;
  if (!output.includes(UNKNOWN) || output.replaceAll(UNKNOWN, '').trim() !== '') return output;
  if (call.stdin?.includes(NETWORK) || isGivenFetched(call)) return NETWORK;
  return call.stdin?.includes(DECODED) ? DECODED : output;
}

function isGivenFetched(call: Call): boolean {
  const { files } = call.shell.world;
  return files.hasFetched && call.words.some((word) => files.get(call.path(word))?.includes(NETWORK));
}

const runsFiles =
  /^(java|dotnet|mono|wine|expect|tclsh|wish|osascript|Rscript|julia|groovy|scala|kotlin|elixir|escript|guile|racket|sbcl|swift|rust-script)$/;

function runsFetched(call: Call): void {
  if (isGivenFetched(call) && runsFiles.test(call.name))
    call.deny('remote-code', 'runs what comes from the network');
}

const disk = /^([\w-]+=)?\/dev\/(sd|hd|vd|xvd|nvme|mmcblk|r?disk|mapper\/|md|dm-|loop|sg|ada)/;

const looksAtDisks = [
  /^(smartctl|blkid|lsblk|udevadm|blockdev|df|findmnt|lsof)\b/,
  /^s?fdisk (.* )?(-l|--list|-d|--dump|-s)\b|^parted .*(-l|print)$|^sgdisk (-p|--print|-i)\b|^tune2fs -l\b/,
  /^mdadm (-[DQE]|--(detail|query|examine))\b|^cryptsetup (status|luksDump|isLuks)\b/,
  /^hdparm -[Iigtv]+ |^nvme (list|id-|smart-log|error-log|get-)/,
];

function touchesMachine(call: Call): void {
  const line = [call.name, ...call.words].join(' ');
  if (looksAtDisks.some((pattern) => pattern.test(line))) return;
  const path = call.words.find((word) => disk.test(word));
  if (path !== undefined)
    call.deny('disk', `gives ${path} to ${call.name}`, 'Work on a file that holds an image.');
  if (!/^(s?fdisk|sgdisk|parted|tune2fs|mdadm|cryptsetup)$/.test(call.name)) return;
  for (const image of call.words) if (/^[^-].*[./]/.test(image)) call.file('write', image);
}

/** Scripts in /etc/init.d have the name of the program that they start. */
function changesService(call: Call): void {
  const [first = ''] = call.shell.world.steps.at(-1)?.words ?? [];
  if (/^\/etc\/(init|rc)\.d\//.test(first) && !/^(status|help)?$/.test(call.words[0] ?? ''))
    call.deny('system-config', 'changes a service of the system');
}

/** Programs that only print, store or look up their words. */
const speaks =
  /^(ralph|claude|codex|gemini|opencode|cowsay|figlet|toilet|say|espeak|tldr|apropos|whatis|whereis|info|bd|br|task|todo|notify-send|logger|explain|howdoi)$/;

/** Follows `rm -r` and `sh -c` behind an unknown wrapper. */
function startsAnother(call: Call): void {
  const at = call.words.findIndex(
    (word, i) =>
      /^(\/\S*\/)?(rm|(ba|z|da|k)?sh)$/.test(word) &&
      (word.endsWith('rm') ? /^-\w*[rRf]/ : /^-\w*c$/).test(call.words[i + 1] ?? ''),
  );
  if (at !== -1 && !speaks.test(call.name)) call.run(call.words.slice(at));
}

const unasked =
  /^(-y|-f|--yes|--force|--confirm|--no-confirm|--no-prompt|--auto-approve|--all|--recursive)(=|$)/;

/** Denies `tool destroy` and `tool delete --force` of an unknown program. */
function destroysUnasked(call: Call): void {
  const [first = ''] = call.shell.world.steps.at(-1)?.words ?? [];
  // Programs of the project, generators and lists of tasks mean something else by these words.
  if (first.includes('/') || /^(ember|ng|nest|bd|br|task|todo)$/.test(call.name)) return;
  const orders = call.words
    .filter((word) => !word.startsWith('-'))
    .slice(0, 3)
    .map((word) => word.slice(word.indexOf(':') + 1));
  const destroys = call.words.some((word) => unasked.test(word))
    ? /^(delete|destroy|terminate|purge|teardown|wipe|nuke|drop)$/
    : /^(destroy|terminate|nuke)$/;
  const order = orders.find((word) => destroys.test(word));
  if (order !== undefined) call.deny('cloud', `${call.name} is told to ${order} without asking`);
}

function writeOutput(call: Call): void {
  call.words.forEach((word, i) => {
    const [, inline] = /^--?o(?:ut(?:put|file)?)?=(.+)$/.exec(word) ?? [];
    const target =
      inline ?? (/^(-o|--?out|--output|--outfile|--output-file)$/.test(word) ? call.words[i + 1] : '');
    if (target && /^[/~]|^\.\.\//.test(target)) call.file('write', target);
  });
}

const mostGuesses = 50_000;

/** The name is known only in part: every program that it may stand for counts. */
export function runUnknown(first: string, call: Call): string {
  if (first.includes(NETWORK) || first.includes(DECODED)) {
    call.deny('obfuscation', 'runs a command whose name is decoded or downloaded');
    return UNKNOWN;
  }
  const name = first.slice(first.lastIndexOf('/') + 1);
  const candidates = hasGlob(name)
    ? programNames().filter((program) => mayMatch(name, program))
    : guesses(call.words);
  // A few words for any program are honest, thousands for every program are not.
  if (candidates.length * call.words.length > mostGuesses)
    throw new RangeError('too many programs and words to follow');
  for (const candidate of candidates) perform(call.with({ name: candidate }));
  return UNKNOWN;
}

function guesses(words: readonly string[]): string[] {
  if (words.some((word) => /^-\w*c$/.test(word))) return ['bash'];
  return words.some((word) => /^-[rRfv]*[rR][rRfv]*$/.test(word)) ? ['rm'] : [];
}
