import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitUntil } from '../support/processes.ts';

/** A Docker service of the test's own, with an image that has node, git and an agent. */
export type ContainerDaemon = { readonly host: string; readonly image: string; close(): Promise<void> };

const image = 'ralph-sandbox-test';

/** Needs root, and `apt-get install docker.io debootstrap`. */
export async function startDaemon(): Promise<ContainerDaemon> {
  // Not in the folder of the tests: what is mounted there could not be removed with it.
  const folder = mkdtempSync('/var/tmp/ralph-docker-');
  const host = `unix://${join(folder, 'socket')}`;
  const own = ['--data-root', join(folder, 'data'), '--exec-root', join(folder, 'exec')];
  const words = [...own, '--pidfile', join(folder, 'pid'), '-H', host, '--iptables=false', '--bridge=none'];
  const service = spawn('dockerd', words, { stdio: 'ignore' });
  const docker = (...args: string[]) =>
    execFileSync('docker', ['-H', host, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  await waitUntil(
    () => {
      try {
        return docker('version');
      } catch {
        return null;
      }
    },
    { timeoutMs: 60_000, what: 'dockerd' },
  );
  const root = join(folder, 'root');
  execFileSync('debootstrap', ['--variant=minbase', '--include=git,libstdc++6', 'stable', root], {
    stdio: 'ignore',
  });
  cpSync(realpathSync(process.execPath), join(root, 'usr/local/bin/node'));
  // Its agent is told by variables which script to play.
  const agent = '#!/bin/sh\nexec node "$CLAUDE_FAKE" --script "$CLAUDE_SCRIPT" "$@"\n';
  writeFileSync(join(root, 'usr/local/bin/claude'), agent, { mode: 0o755 });
  execFileSync('sh', ['-c', 'tar c -C "$1" . | docker -H "$2" import - "$3"', 'sh', root, host, image]);
  return {
    host,
    image,
    async close() {
      service.kill('SIGTERM');
      await waitUntil(() => service.exitCode !== null, { timeoutMs: 60_000, what: 'the end of dockerd' });
      rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 500 });
    },
  };
}
