import type { Cluster, LoopOrder, WorkSource } from '../../cluster/cluster.ts';
import { isObject } from '../../core/json.ts';
import { runsByItself } from '../../fleet/delivery.ts';
import { checkName } from '../../fleet/spawn.ts';
import { readPrompt } from '../../fleet/start-iteration.ts';
import { createRedactor } from '../../os/redact/redact.ts';
import { isSecretName } from '../../os/redact/secrets.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { fault } from './context.ts';
import { missingMachine, needAddress, warnInTheClear, withCluster } from './open-cluster.ts';
import type { submitOptions } from './options.ts';
import { loopOf, refuseContinuous } from './spawn.ts';
import { clusterEntries, waitUntilOver } from './wait-entries.ts';

type SubmitInput = Input<typeof submitOptions>;

const maxPromptChars = 256 * 1024;

/** Hands a loop to a cluster: whichever machine is free runs it. */
export async function main(context: Context, input: SubmitInput): Promise<number> {
  const order = orderOf(context, input);
  const { name, source } = order;
  warnInTheClear(context, needAddress(context, input.values));
  return withCluster(context, input.values, async (cluster) => {
    await checkBranch(cluster, name, source);
    if (input.values.replace) await cluster.cancel(name);
    if (!(await cluster.submit(order))) {
      throw fault(`worker '${name}' already exists`, `swarm status ${name}, or --replace to end it`);
    }
    const missing = missingMachine(await cluster.hosts(), order.labels ?? []);
    const idle = missing === null ? '' : `; ${missing}`;
    context.stdout.write(
      `submitted ${name} (${source.branch}) [ralph mode: up to ${order.settings.max_iterations} iterations]${idle}\n`,
    );
    return input.values.wait ? waitUntilOver(context, () => clusterEntries(cluster, name), {}) : 0;
  });
}

function orderOf(
  context: Context,
  { values, args }: SubmitInput,
): LoopOrder & { readonly source: WorkSource } {
  const command = args[0] === '--' ? args.slice(1) : args;
  const { name, repo, branch, cwd = '.' } = values;
  if (command.length === 0) throw fault('no command provided (use -- command...)');
  if (name === undefined) throw fault('--name is required', 'swarm help submit');
  checkName(name);
  if (repo === undefined)
    throw fault('--repo is required: any machine has to be able to fetch it', 'swarm help submit');
  if (branch === undefined)
    throw fault('--branch is required: the work is pushed to it', 'swarm help submit');
  checkRepo(repo);
  if (/^[/\\]|(^|[/\\])\.\.([/\\]|$)/.test(cwd)) throw fault('--cwd is a folder inside the repository');
  if (values['prompt-file'] === undefined) throw fault('--prompt-file is required', 'swarm help submit');
  if (values['max-iterations'] === undefined)
    throw fault('--max-iterations is required', 'swarm help submit');
  if (!runsByItself(command)) refuseContinuous(values);
  const { settings, options } = loopOf(context, values, command);
  const prompt = readPrompt(settings.prompt_file);
  if ('problem' in prompt) throw fault(prompt.problem);
  if (prompt.text.length > maxPromptChars)
    throw fault(`the prompt is longer than ${maxPromptChars} characters`);
  const { pass, env } = variablesOf(values.env ?? []);
  // These two are true on this machine only.
  const { path: _path, engine: _engine, ...portable } = options;
  const order = {
    name,
    command,
    cwd,
    env,
    tags: values.tag ?? [],
    settings: { ...settings, prompt_file: values['prompt-file'] ?? settings.prompt_file },
    options: portable,
    labels: [...new Set((values.label ?? []).flatMap((text) => text.split(',').filter(Boolean)))],
    source: { repo, branch, base: values.base ?? null, prompt: prompt.text, pass },
  };
  refuseSecrets(context, order);
  return order;
}

/** `K=V` goes to the store for everybody to read; `K` alone is the variable of the machine that runs the loop. */
function variablesOf(given: readonly string[]): { pass: string[]; env: Record<string, string> } {
  const pass: string[] = [];
  const env: Record<string, string> = {};
  for (const text of given) {
    const [, key = '', value] = /^([A-Za-z_]\w*)(?:=(.*))?$/s.exec(text) ?? [];
    if (key === '')
      throw fault(`invalid env format '${text.replace(/=.*/s, '=...')}' (expected KEY=VAL or KEY)`);
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

/** How people know the parts of an order. */
const partNames: Readonly<Record<string, string>> = {
  name: '--name',
  command: 'the command',
  cwd: '--cwd',
  env: '--env',
  pass: '--env',
  tags: '--tag',
  labels: '--label',
  repo: '--repo',
  branch: '--branch',
  base: '--base',
  prompt: 'the prompt',
};

/** The values of this environment and all known kinds of keys, wherever they stand. */
function refuseSecrets({ env }: Context, { source, ...order }: LoopOrder): void {
  const redactor = createRedactor(env);
  for (const [part, value] of Object.entries({ ...order, ...source })) {
    const what = partNames[part] ?? 'an option';
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

/** Two loops on one branch would fence each other off for ever. */
async function checkBranch(cluster: Cluster, name: string, { repo, branch }: WorkSource): Promise<void> {
  const other = (await cluster.list()).find(
    (view) =>
      view.name !== name &&
      view.repo === repo &&
      view.branch === branch &&
      (view.status === 'running' || view.status === 'paused'),
  );
  if (other === undefined) return;
  throw fault(`the loop '${other.name}' works on ${branch} already`, 'give each loop a --branch of its own');
}
