import type { Call } from '../call.ts';
import { isOpaque, PRIVATE, secretsIn, show, UNKNOWN } from '../marks.ts';
import { isProjectFile, isSecretFile, isTemporary } from '../zones.ts';

export function hostOf(url: string): string {
  const [, host = ''] = /^(?:[a-z][a-z0-9+.-]*:\/\/)?(?:[^@/?#]*@)?(\[[^\]]*\]|[^:/?#]*)/i.exec(url) ?? [];
  return host.toLowerCase();
}

export function isLocal(host: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1?\]|::1|host\.docker\.internal|.*\.(localhost|local|test))$/.test(
    host,
  );
}

/** A token may go to the service that it is for: GITHUB_TOKEN to github.com. */
function isOwner(secret: string, host: string): boolean {
  const [stem = ''] = secret.toLowerCase().split('_');
  const name = stem === 'gh' ? 'github' : stem;
  return name.length > 2 && host.split('.').slice(-2).join('.').includes(name);
}

export function sends(call: Call, text: string, host: string, asHeader = false): void {
  if (isLocal(host)) return;
  if (isOpaque(text) && !asHeader && hasReadOthers(call))
    call.deny('exfiltration', `sends what it read outside the project to ${host}`);
  if (text.includes(PRIVATE)) call.deny('exfiltration', `sends private data to ${host}`);
  for (const secret of secretsIn(text)) {
    if (!(asHeader && isOwner(secret, host)))
      call.deny('exfiltration', `sends the secret ${secret} to ${host}`);
  }
}

export function hasReadOthers(call: Call): boolean {
  return call.shell.world.effects.some(
    (effect) =>
      effect.kind === 'read' &&
      !isOwn(call, effect.path) &&
      !/^\/(usr|proc|sys|dev|bin|lib)/.test(effect.path),
  );
}

const soundsSecret =
  /secret|credential|passw|\.(sql|dump|db|sqlite3?|bak|tar|tgz|tar\.\w+|zip|7z|rar|bundle|key|pem)$/i;

export function sendsFile(call: Call, path: string, host: string): void {
  if (path === '-' || path === '/dev/stdin') {
    sends(call, call.stdin ?? '', host);
    if (!isLocal(host) && isOpaque(call.stdin ?? '') && hasPacked(call))
      call.deny('exfiltration', `sends an archive to ${host}`);
    return;
  }
  const full = call.path(path);
  call.file('read', path);
  if (isLocal(host)) return;
  const secret = isSecretFile(full, call.context, true) || soundsSecret.test(full);
  call.act(secret || !isOwn(call, path) ? 'deny' : 'warn', 'exfiltration', `sends ${show(path)} to ${host}`);
}

function hasPacked({ shell }: Call): boolean {
  return shell.world.steps.some(({ words: [program = '', action = ''] }) =>
    program === 'git' ? /^(bundle|archive)$/.test(action) : /^(bsdtar|tar|zip|7z\w?|cpio)$/.test(program),
  );
}

export function isOwn(call: Call, path: string): boolean {
  const full = call.path(path);
  return !full.startsWith('/') || isTemporary(full, call.context) || isProjectFile(full, call.context);
}

/** True for parts of the project, such as build output, but not for all of it or its history. */
export function maySend(call: Call, path: string): boolean {
  const full = call.path(path);
  return isOwn(call, path) && full !== call.context.projectRoot && !/\/\.git(\/|$)/.test(full);
}

export function uploads(call: Call, paths: readonly string[], target: string): void {
  for (const path of paths) {
    call.file('read', path, { recursive: true });
    if (!maySend(call, path)) call.deny('exfiltration', `copies ${show(path)} to ${show(target)}`);
  }
  if (paths.length > 0) call.warn('exfiltration', `copies files to ${show(target)}`);
}

export function serves(call: Call, folder: string): string {
  const path = call.path(folder);
  if (!isOwn(call, path))
    call.deny('exfiltration', `shows ${show(path)} to the network`, 'Serve a folder of the project.');
  return UNKNOWN;
}
