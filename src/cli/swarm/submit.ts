import { isSecretName } from 'ralphkit-guard/secret-names';
import type { Cluster } from '../../cluster/cluster.ts';
import { isBranchName, isInside, isPassable, type LoopOrder, type WorkSource } from '../../cluster/orders.ts';
import { lookAtRemote } from '../../cluster/remote.ts';
import { isObject } from '../../core/json.ts';
import { plural } from '../../core/text.ts';
import { runsByItself } from '../../fleet/delivery.ts';
import { isOpen } from '../../fleet/files/loops.ts';
import { checkName } from '../../fleet/spawn.ts';
import { readPrompt } from '../../fleet/start-iteration.ts';
import { createRedactor } from '../../os/redact/redact.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { clusterFleet, missingMachine } from './cluster-fleet.ts';
import { fault, warn } from './context.ts';
import { needAddress, warnInTheClear, withCluster } from './open-cluster.ts';
import type { submitOptions } from './options.ts';
import { loopOf, refuseContinuous } from './spawn.ts';
import { waitUntilOver } from './wait.ts';

type SubmitInput = Input<typeof submitOptions>;

const maxPromptChars = 256 * 1024;

/** Submits a loop to a cluster: any machine that is free runs it. */
export async function main(context: Context, input: SubmitInput): Promise<number> {
  const order = orderOf(context, input);
  const { name, source } = order;
  warnInTheClear(context, needAddress(context, input.values));
  await checkRemote(context, source);
  return withCluster(context, input.values, async (cluster) => {
    await checkBranch(cluster, name, source);
    if (input.values.replace) await cluster.cancel(name);
    if (!(await cluster.submit(order))) {
      throw fault(`worker '${name}' already exists`, `swarm status ${name}, or --replace to end it`);
    }
    const missing = missingMachine(await cluster.hosts(), order);
    const idle = missing === null ? '' : `; ${missing}`;
    context.stdout.write(
      `submitted ${name} (${source.branch}) [ralph mode: up to ${plural(order.settings.max_iterations, 'iteration')}]${idle}\n`,
    );
    return input.values.wait ? waitUntilOver(context, clusterFleet(cluster), name) : 0;
  });
}

function orderOf(context: Context, { values, args }: SubmitInput) {
  const command = args[0] === '--' ? args.slice(1) : args;
  if (command.length === 0) throw fault('no command provided (use -- command...)');
  const { cwd = '.' } = values;
  const name = needOption(values, 'name');
  checkName(name);
  const repo = needOption(values, 'repo', ': any machine has to be able to fetch it');
  const branch = needOption(values, 'branch', ': the work is pushed to it');
  const base = values.base ?? null;
  checkRepo(repo);
  checkBranchName('--branch', branch);
  if (base !== null) checkBranchName('--base', base);
  if (!isInside(cwd)) throw fault('--cwd is a folder inside the repository');
  const promptFile = needOption(values, 'prompt-file');
  needOption(values, 'max-iterations');
  if (!runsByItself(command)) refuseContinuous(values);
  const { settings, options } = loopOf(context, values, command);
  const prompt = readPrompt(settings.prompt_file);
  if ('problem' in prompt) throw fault(prompt.problem);
  if (prompt.text.length > maxPromptChars)
    throw fault(`the prompt is longer than ${maxPromptChars} characters`);
  const { pass, env } = variablesOf(values.env ?? []);
  // Where programs are is true on this machine only.
  const { engine: _engine, ...portable } = options;
  const order = {
    name,
    command,
    cwd,
    env,
    tags: values.tag ?? [],
    settings: { ...settings, prompt_file: promptFile },
    options: portable,
    labels: [...new Set((values.label ?? []).flatMap((text) => text.split(',').filter(Boolean)))],
    source: { repo, branch, base, prompt: prompt.text, pass },
  };
  refuseSecrets(context, order);
  return order;
}

function needOption<K extends 'name' | 'repo' | 'branch' | 'prompt-file' | 'max-iterations'>(
  values: SubmitInput['values'],
  name: K,
  why = '',
): NonNullable<SubmitInput['values'][K]> {
  const value = values[name];
  if (value !== undefined) return value;
  throw fault(`--${name} is required${why}`, 'swarm help submit');
}

/** `K=V` goes to the store, where everybody can read it; `K` alone is a variable of the machine that runs the loop. */
function variablesOf(words: readonly string[]): { pass: string[]; env: Record<string, string> } {
  const pass: string[] = [];
  const env: Record<string, string> = {};
  for (const text of words) {
    const [, key = '', value] = /^([A-Za-z_]\w*)(?:=(.*))?$/s.exec(text) ?? [];
    if (key === '')
      throw fault(`invalid env format '${text.replace(/=.*/s, '=...')}' (expected KEY=VAL or KEY)`);
    if (!isPassable(key))
      throw fault(`${key} cannot be set by a loop: the machines that run it have their own`);
    if (value === undefined) pass.push(key);
    else if (isSecretName(key)) {
      throw fault(
        `${key} looks like a secret, and everybody who can read the store could read it`,
        `--env ${key}, without a value, and set it in the environment of swarm worker`,
      );
    } else env[key] = value;
  }
  return { pass, env };
}

function checkBranchName(option: string, name: string): void {
  if (!isBranchName(name)) throw fault(`${option} ${JSON.stringify(name)} is no name for a branch`);
}

/** Throws if the repository or the branch does not exist. Machines may reach one that this machine cannot. */
async function checkRemote(context: Context, source: WorkSource): Promise<void> {
  const look = await lookAtRemote('/', source);
  if (look.kind === 'missing') throw fault(look.why, 'see --repo, --branch and --base: swarm help submit');
  if (look.kind === 'unreachable') warn(context, `${source.repo} cannot be read from here: ${look.why}`);
}

function checkRepo(repo: string): void {
  // A token may stand where the user does; `git` is the one name that is never a secret.
  const isUserOpen = /^https?:\/\/[^/]*@/i.test(repo) && !/^https?:\/\/git@[^@/]*(\/|$)/i.test(repo);
  if (isUserOpen || /^[a-z][a-z0-9+.-]*:\/\/[^/@]*:[^/@]*@/i.test(repo)) {
    throw fault(
      'a password or a token in --repo would be in the store for everybody to read',
      'leave it out, and give git on each machine a credential helper or an SSH key',
    );
  }
  if (repo.startsWith('-')) throw fault(`${repo} is no address of a repository`);
}

/** Words of the user for parts of an order that are not options of their name. */
const partNames: Readonly<Record<string, string>> = {
  command: 'the command',
  prompt: 'the prompt',
  pass: '--env',
  tags: '--tag',
  labels: '--label',
  settings: 'an option',
  options: 'an option',
};

/** Throws if any part has a secret of this environment, or a known kind of key. */
function refuseSecrets({ env }: Context, { source, ...order }: LoopOrder): void {
  const redactor = createRedactor(env);
  for (const [part, value] of Object.entries({ ...order, ...source })) {
    const what = partNames[part] ?? `--${part}`;
    if (textsIn(value).every((text) => redactor.text(text) === text)) continue;
    throw fault(
      `there is a secret in ${what}, and everybody who can read the store could read it`,
      'name a variable with --env NAME, and set it in the environment of swarm worker',
    );
  }
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isObject(value) ? Object.entries(value).flat().flatMap(textsIn) : [];
}

/** Throws if another open loop has the branch: both would reject each other's pushes for ever. */
async function checkBranch(cluster: Cluster, name: string, { repo, branch }: WorkSource): Promise<void> {
  const other = (await cluster.list()).find(
    (view) => view.name !== name && view.repo === repo && view.branch === branch && isOpen(view),
  );
  if (other === undefined) return;
  throw fault(`the loop '${other.name}' works on ${branch} already`, 'give each loop a --branch of its own');
}
