import type { Redirection } from 'unbash';
import { expandText, expandWord } from './expand.ts';
import { expandParts } from './expand-parts.ts';
import { committed, ENDLESS, PRIVATE, secretsIn, shown, UNKNOWN } from './marks.ts';
import type { Act, Capture, Effect, FileEffect, Input, Shell, World } from './model.ts';
import { foldersAround, isInside, resolvePath } from './paths.ts';
import { denial, wholeEnvironment } from './private.ts';
import { isSecretFile } from './zones.ts';

/** Opens files as a shell does before the command starts, and gives the output to where it goes. */
export function withRedirects(
  redirects: readonly Redirection[],
  shell: Shell,
  capture: Capture,
  run: (input: Input | undefined) => string,
): string {
  if (redirects.length === 0) return run(undefined);
  let input: Input | undefined;
  const targets: { path: string; append: boolean }[] = [];
  const step = shell.world.steps.at(-1);
  const note = (effect: Effect) => shell.world.note(effect, step);
  for (const redirect of redirects) {
    if (redirect.type === 'HereDoc') {
      input = {
        text: redirect.body.parts ? expandParts(redirect.body.parts, shell, capture) : redirect.body.text,
      };
      keepOpen(redirect, input, shell);
      continue;
    }
    if (!redirect.target) continue;
    const name = expandWord(redirect.target, shell, capture).join(' ');
    if (redirect.type === 'HereString') {
      input = { text: `${expandText(redirect.target, shell, capture)}\n` };
      keepOpen(redirect, input, shell);
      continue;
    }
    const { operator } = redirect;
    if (/^[<>]&$/.test(operator) && /^(\d+-?|-)$/.test(name)) {
      const open = shell.world.files.get(`/dev/fd/${name}`);
      if (open !== undefined) input = { text: open };
      continue;
    }
    // A check whether a local port answers sends nothing out.
    if (operator === '<' && /^\/dev\/tcp\/(localhost|127\.0\.0\.1)\/\d+$/.test(name)) continue;
    if (/^\/dev\/(tcp|udp)\//.test(name)) {
      note(denial('remote-shell', `opens a connection to ${shown(name.slice(9))}`, 'Use curl.'));
      continue;
    }
    const path = throughLink('write', name, resolvePath(name, shell.cwd, shell.world), shell.world);
    if (operator === '<' || operator === '<&') {
      if (!isLoaded(path, shell)) note(fileEffect('read', path));
      input = { text: contentOf(path, shell) };
      keepOpen(redirect, input, shell);
      continue;
    }
    const append = operator.endsWith('>>');
    note(fileEffect('write', path, { how: append ? 'append' : 'overwrite' }));
    const fd = redirect.descriptor?.type === 'FileDescriptor' ? redirect.descriptor.value : 1;
    if (fd === 1 && !/^\/dev\/(stdout|stderr|tty|fd\/\d+)$/.test(path)) targets.push({ path, append });
  }
  const output = run(input);
  if (targets.length === 0) return output;
  for (const { path, append } of targets) {
    const before = append ? (shell.world.files.get(path) ?? '') : '';
    if (path === '/dev/null') continue;
    shell.world.files.set(path, before + output);
    const act = written(output, path, shell.world);
    if (act !== null) note(act);
  }
  return '';
}

/** Whether a file is read for the variables in it, as `source .env` does. */
export function isLoaded(path: string, { loads }: Shell): boolean {
  return loads && /\/\.env(\.[\w.-]+)?$/.test(path);
}

/** Input on a descriptor above 2 can be read later, as /dev/fd/3. */
function keepOpen({ descriptor }: Redirection, { text }: Input, { world }: Shell): void {
  if (descriptor?.type === 'FileDescriptor' && descriptor.value > 2 && text !== null)
    world.files.set(`/dev/fd/${descriptor.value}`, text);
}

/** What matters about text that goes into a file: where it comes from. */
export function written(output: string, path: string, world: World): Act | null {
  const { context } = world;
  if (output.includes(ENDLESS) && !/^\/dev\/(?!shm\/)/.test(path))
    return denial('exhaustion', `fills ${shown(path)} without end`, 'Limit it, as in head -c 1M.');
  if (output.includes(committed(path)))
    return denial(
      'git',
      `throws away uncommitted changes in ${shown(path)}`,
      'Commit or stash the work first.',
    );
  if (!isInside(path, context.projectRoot) || isSecretFile(path, context, false)) return null;
  const [secret] = secretsIn(output);
  if (secret !== undefined && !/\/\.(npmrc|yarnrc\.yml)$/.test(path))
    return denial(
      'credentials',
      `writes the secret ${secret} into ${shown(path)}`,
      'Let the program read the variable.',
    );
  return output.includes(PRIVATE) ? wholeEnvironment(world, `writes private data into ${shown(path)}`) : null;
}

export function fileEffect(
  kind: FileEffect['kind'],
  path: string,
  { recursive = false, how = 'overwrite' }: Partial<FileEffect> = {},
): Effect {
  return { kind, path, recursive, how };
}

/** Follows a link that the command made, except where the link itself is deleted. */
export function throughLink(
  kind: FileEffect['kind'],
  written: string,
  path: string,
  { links }: World,
): string {
  return kind === 'delete' && !written.endsWith('/') ? path : (links.get(path) ?? path);
}

/** Folders of a project that an archive or a clone seldom brings along. */
const usual =
  /^(src|lib|bin|dist|build|scripts?|tools?|tests?|node_modules|packages|apps|\.venv|venv)\/|^(?!(install|setup|bootstrap)(\.sh)?$)[^/]*$/;

/** What a file holds that came with a folder which the command has fetched. */
export function fetchedWith(path: string, { fetched, context }: World): string | undefined {
  if (fetched.size === 0) return undefined;
  for (const folder of foldersAround(path)) {
    const content = fetched.get(folder);
    if (content === undefined) continue;
    if (isInside(context.projectRoot, folder) && usual.test(path.slice(folder.length + 1))) continue;
    return content;
  }
  return undefined;
}

/** What a file of this command holds; one that was there before is unknown or private. */
export function contentOf(named: string, { world }: Shell): string {
  const path = world.links.get(named) ?? named;
  const own = world.files.get(path) ?? fetchedWith(path, world);
  if (own !== undefined) return own;
  if (path === '/dev/null') return '';
  if (/^\/dev\/(zero|u?random)$/.test(path)) return ENDLESS;
  // A program under another name is still that program.
  if (/^(\/usr)?(\/local)?\/s?bin\/[^/]+$/.test(path)) return `#!${path}\n`;
  return path.startsWith('/') && isSecretFile(path, world.context, false) ? PRIVATE : UNKNOWN;
}
