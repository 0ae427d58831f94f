import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agents } from '../agents/registry.ts';
import { RalphError } from '../core/error.ts';
import { lstatOf } from '../os/files/files.ts';
import { makeTempDir, removeTempDir } from '../os/files/temp.ts';
import { passVariables, variablesInside } from './environment.ts';
import { type HostRule, parseHostRule } from './hosts.ts';
import { type Resolve, startProxy } from './proxy.ts';
import type { DeniedHost, SandboxSpec } from './sandbox.ts';
import { keepOnRecord } from './stand-ins.ts';

/** The only way out of a sandbox that has a network of its own. */
export type Network = Readonly<Awaited<ReturnType<typeof openNetwork>>>;

const proxyPort = 47_113;
/** Longest path of a unix socket, with some room. */
const maxSocketPath = 90;

export async function openNetwork(spec: SandboxSpec, resolve?: Resolve) {
  const rules = hostRules(spec);
  const forwards = forwardsOf(rules);
  const folder = makeTempDir('ralph-net-', tmpdir().length > maxSocketPath - 30 ? '/tmp' : tmpdir());
  const record = keepOnRecord(spec.env, folder);
  const socket = join(folder, 'proxy');
  const usedPorts = new Set(rules.map(({ port }) => port));
  let port = proxyPort;
  while (usedPorts.has(port)) port += 1;
  const proxy = await startProxy(socket, { rules, onDenied: once(spec.denied), resolve });
  return {
    /** Path of the proxy's socket, in a folder that only we can enter. */
    socket,
    /** Port of the proxy on the loopback inside. */
    port,
    /** `host:port` of services of this machine that were allowed by name. */
    forwards,
    async close(): Promise<void> {
      await proxy.close();
      removeTempDir(folder);
      record.forget();
    },
  };
}

/** Returns one place of this machine for each port: inside, `localhost` and `127.0.0.1` are the same. */
function forwardsOf(rules: readonly HostRule[]): string[] {
  const own = rules.filter(
    ({ host, below, port }) => port !== null && !below && /^(localhost|127\..*|::1)$/.test(host),
  );
  const byPort = new Map(
    own.map(({ host, port }) => [port, `${host.includes(':') ? `[${host}]` : host}:${port}`]),
  );
  return [...byPort.values()];
}

/** Returns the program that starts first inside: beside the commands, or in dist when run from the source. */
export function innerProgram(): string {
  const places = ['../sandbox-inner.cjs', '../../dist/sandbox-inner.cjs', './sandbox-inner.cjs'];
  const program = places
    .map((place) => join(import.meta.dirname, place))
    .find((path) => lstatOf(path) !== null);
  if (program !== undefined) return program;
  throw new RalphError('sandbox-program', 'dist/sandbox-inner.cjs is missing', { remedy: 'npm run build' });
}

/** Returns the arguments of node that start this program, before those of the command; `folder` is ours inside. */
export function innerWords(folder: string, { port, forwards }: Network): string[] {
  return [`${folder}/inner.cjs`, `${folder}/proxy`, String(port), forwards.join(',')];
}

/** Registries of packages that a task may need. */
const packageHosts = [
  'registry.npmjs.org registry.yarnpkg.com pypi.org files.pythonhosted.org crates.io *.crates.io',
  'proxy.golang.org sum.golang.org rubygems.org *.rubygems.org repo.maven.apache.org repo1.maven.org',
].flatMap((line) => line.split(' '));

function hostRules(spec: SandboxSpec): HostRule[] {
  const { agent, allowHosts = [] } = spec;
  return [...agents[agent].sandbox.hosts, ...packageHosts, ...providerHosts(spec), ...allowHosts].map(
    (text) => {
      const rule = parseHostRule(text);
      if (rule !== null) return rule;
      throw new RalphError('allow-host', `"${text}" is no host: no address with http:// and no path`, {
        remedy: '--allow-host example.com, --allow-host "*.example.com" or --allow-host localhost:11434',
      });
    },
  );
}

/** Returns the hosts of addresses such as ANTHROPIC_BASE_URL that pass into the sandbox: the agent's provider is there. */
function providerHosts({ agent, env, agentEnv = {}, variables = [] }: SandboxSpec): string[] {
  const also = [...agents[agent].sandbox.variables, ...variables];
  const passing = { ...passVariables(env, also), ...variablesInside(agentEnv) };
  return Object.entries(passing).flatMap(([name, value]) => {
    if (!/_(BASE_URL|API_BASE|ENDPOINT)$/.test(name) || !URL.canParse(value)) return [];
    const { protocol, hostname, port } = new URL(value);
    return hostname === '' ? [] : [`${hostname}:${port || (protocol === 'http:' ? 80 : 443)}`];
  });
}

function once(onDenied: SandboxSpec['denied']): (host: DeniedHost) => void {
  const reported = new Set<string>();
  return (host) => {
    const place = `${host.host}:${host.port}`;
    if (reported.has(place) || reported.size > 1000) return;
    reported.add(place);
    onDenied?.(host);
  };
}
