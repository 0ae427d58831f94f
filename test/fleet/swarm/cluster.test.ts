import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { clusterAddress } from '../../../src/cluster/address.ts';
import type { Cluster } from '../../../src/cluster/cluster.ts';
import { openCluster } from '../../../src/cluster/open.ts';
import { commitMessage } from '../../../src/cluster/trailers.ts';
import { ended } from '../../cluster/contract.ts';
import { waitUntil } from '../../support/processes.ts';
import { type RunResult, runRalph, startRalph } from '../../support/ralph.ts';
import { makeRepo, type Repo } from '../../support/repo.ts';
import { freePort, missing, startRedis, type TestStore } from '../../support/stores.ts';

const here = { host: 'machine', labels: [] };

type World = Repo & {
  readonly cluster: Cluster;
  readonly url: string;
  swarm(...words: string[]): Promise<RunResult>;
  submit(name: string, ...words: string[]): Promise<RunResult>;
};

describe.skipIf(missing.redis !== null)(`swarm on a cluster (${missing.redis ?? 'redis'})`, () => {
  let store: TestStore;

  beforeAll(async () => {
    store = await startRedis();
  });
  afterAll(() => store?.stop());

  async function makeWorld(): Promise<World> {
    const repo = makeRepo({ files: { 'PROMPT.md': 'Do the task.\n' } });
    const url = await store.fresh();
    const cluster = await openAt(url);
    const env = { ...repo.env, SWARM_CLUSTER: url };
    const swarm = (...words: string[]) => runRalph(words, { ...repo, env, program: 'swarm' });
    const submit = (name: string, ...words: string[]) => {
      const work = ['--repo', repo.cwd, '--branch', `ralph/${name}`];
      const loop = ['--prompt-file', 'PROMPT.md', '--max-iterations', '5'];
      return swarm('submit', '--name', name, ...work, ...loop, ...words, '--', 'claude', '--model', 'x');
    };
    return { ...repo, cluster, url, swarm, submit };
  }

  async function openAt(url: string): Promise<Cluster> {
    const address = clusterAddress(url, {});
    if (address === null) throw new Error('no address');
    const cluster = await openCluster(address, { leaseMs: 600_000 });
    onTestFinished(() => cluster.close());
    return cluster;
  }

  it('submits a loop once, and shows where it is', async () => {
    const { submit, swarm, cluster } = await makeWorld();
    const first = await submit(
      'a',
      '--tag',
      'night',
      '--env',
      'CI=1',
      '--env',
      'API_TOKEN',
      '--label',
      'gpu,big',
    );
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toContain('submitted a (ralph/a)');
    const again = await submit('a');
    expect(again.code).toBe(1);
    expect(again.stderr).toContain("swarm: error: worker 'a' already exists");
    expect(await cluster.list()).toHaveLength(1);
    expect(await cluster.order('a')).toMatchObject({
      command: ['claude', '--model', 'x'],
      env: { CI: '1' },
      labels: ['gpu', 'big'],
      source: { branch: 'ralph/a', prompt: 'Do the task.\n', pass: ['API_TOKEN'] },
    });
    const claim = await cluster.claim({ host: 'machine', labels: ['gpu', 'big'] });
    expect(claim).not.toBeNull();
    const [row] = JSON.parse((await swarm('ls', '--format', 'json', '--tag', 'night')).stdout);
    expect(row).toMatchObject({
      name: 'a',
      status: 'running',
      cmd: ['claude', '--model', 'x'],
      tags: ['night'],
      metadata: { ralph: true, ralph_iteration: 1 },
      host: 'machine',
    });
    expect((await swarm('ls')).stdout).toMatch(/^a +running +machine +1\/5 /m);
    expect((await swarm('ls', '--status', 'stopped', '--format', 'names')).stdout).toBe('');
    expect(await swarm('status', 'a')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('host machine'),
    });
    expect((await swarm('top', '--once')).stdout).toMatch(/^a +starting, on machine +1\/5/m);
    expect((await swarm('hosts')).stdout).toMatch(/^machine +ready +1 +gpu,big /m);
    expect((await swarm('ralph', 'status', 'a')).stdout).toContain('Iteration: 1/5\n');
    expect((await swarm('ralph', 'ls', '--status', 'running')).stdout).toMatch(
      /^a +running +1\/5 .*machine$/m,
    );
  });

  it('pauses, resumes, tells why, ends, waits and cleans', async () => {
    const { submit, swarm, cluster } = await makeWorld();
    await submit('a');
    const claim = await cluster.claim(here);
    if (claim === null) throw new Error('nothing to claim');
    expect((await swarm('ralph', 'pause', 'a')).stdout).toBe('paused ralph loop for a\n');
    expect((await swarm('ralph', 'pause', 'a')).stderr).toContain("worker 'a' is already paused");
    expect(await cluster.finishIteration(claim, ended())).toEqual({ kind: 'paused' });
    expect((await swarm('ralph', 'resume', 'a')).stdout).toBe('resumed ralph loop for a\n');
    const next = await cluster.claim(here);
    if (next === null) throw new Error('nothing to claim');
    await cluster.report(next, { tail: 'one\ntwo\u001b[2J\nthree\n' });
    expect((await swarm('logs', 'a', '-n', '2')).stdout).toBe('two\nthree\n');
    const why = await swarm('why', 'a');
    expect(why.stdout).toMatch(/^a: starting, for \d+s, iteration 2\/5, on machine\n/);
    expect(why.stdout).toContain('starting iteration 1/5');
    expect(JSON.parse((await swarm('why', 'a', '--format', 'json')).stdout)).toMatchObject({
      name: 'a',
      host: 'machine',
    });
    expect((await swarm('ralph', 'logs', 'a')).stdout).toContain('[END] iteration 1 exit=0');
    expect(await swarm('wait', 'a', '--timeout', '1ms')).toMatchObject({
      code: 1,
      stdout: 'a: still running (timeout)\n',
    });
    expect((await swarm('clean', 'a')).stderr).toContain("cannot clean running worker 'a'");
    expect((await swarm('kill', '--all')).stdout).toBe('killed a\n');
    expect(await cluster.heartbeat(next)).toEqual({ kind: 'cancelled' });
    expect(await swarm('status', 'a')).toMatchObject({ code: 1 });
    expect(await swarm('wait', 'a')).toMatchObject({ code: 130, stdout: 'a: exited, stopped\n' });
    expect((await swarm('clean', '--all')).stdout).toBe('cleaned a\n');
    const gone = await swarm('status', 'a');
    expect(gone).toMatchObject({ code: 2, stderr: expect.stringContaining("worker 'a' not found") });
  });

  it('shows and controls the loops of a cluster on the dashboard', async () => {
    const { submit, cluster, url, cwd, env } = await makeWorld();
    await submit('a');
    const claim = await cluster.claim(here);
    if (claim === null) throw new Error('nothing to claim');
    await cluster.report(claim, { why: { state: 'working', since: Date.now() }, tail: 'the tail\n' });
    const options = { cwd, env, program: 'swarm' } as const;
    const running = startRalph(['dashboard', '--control', '--cluster', url], options);
    const page = new URL(
      (await waitUntil(() => /^http:\S+$/m.exec(running.output.stdout)?.[0], { timeoutMs: 60_000 })) ?? '',
    );
    const headers = {
      Authorization: `Bearer ${page.hash.replace('#token=', '')}`,
      'Content-Type': 'application/json',
      Origin: page.origin,
    };
    const ask = async (path: string, body?: object): Promise<Record<string, unknown>> => {
      const init = body === undefined ? { headers } : { headers, method: 'POST', body: JSON.stringify(body) };
      const answer = await fetch(`${page.origin}/api/loops${path}`, init);
      return JSON.parse(await answer.text());
    };
    expect((await ask('')).loops).toMatchObject([
      {
        id: 'worker:a',
        kind: 'worker',
        status: 'running',
        iteration: 1,
        of: 5,
        agent: 'claude',
        title: 'Do the task.',
      },
    ]);
    expect(await ask('/worker:a/terminal')).toEqual({ screen: 'the tail\n' });
    expect(await ask('/worker:a/actions', { action: 'pause' })).toEqual({
      told: 'it waits after this iteration',
    });
    expect(await cluster.status('a')).toMatchObject({ status: 'paused' });
    await cluster.finishIteration(claim, ended());
    // Whoever has the page open causes the same by its stream.
    expect((await ask('')).loops).toMatchObject([{ status: 'paused', marks: ['went-on'] }]);
    expect((await ask('/worker:a')).iterations).toMatchObject([{ iteration: 1, mark: 'went-on' }]);
    expect(await ask('/worker:a/actions', { action: 'stop' })).toEqual({ told: 'it is stopped' });
    expect(await ask('/worker:a/actions', { action: 'note', text: 'x' })).toMatchObject({ error: {} });
    running.child.kill('SIGTERM');
    expect(await running.done).toMatchObject({ code: 0 });
  });

  it('sets the limits of all machines, and drains one', async () => {
    const { submit, swarm, cluster } = await makeWorld();
    const words = ['--max-parallel', '3', '--starts-per-minute', '9', '--max-cost', '2.5'];
    expect((await swarm('limits', ...words)).stdout).toBe(
      'at the same time: at most 3\nin a minute: at most 9 begin\ncost: $0.00 of $2.50 spent\n',
    );
    await submit('limited');
    const claim = await waitUntil(() => cluster.claim(here), { timeoutMs: 60_000 });
    if (claim === null) throw new Error('not given');
    const limitUntil = Date.now() + 600_000;
    await cluster.finishIteration(claim, ended({ how: 'limited', exitCode: null, limitUntil }));
    expect((await cluster.limits()).holds).toEqual({ claude: limitUntil });
    expect((await swarm('limits', '--unlimited', '--release', 'claude')).stdout).toBe(
      'at the same time: any number of iterations\n',
    );
    await submit('a');
    await cluster.claim(here);
    expect((await swarm('drain', 'nobody')).stderr).toContain("there is no machine 'nobody'");
    expect((await swarm('drain', 'machine')).stdout).toBe('draining machine\n');
    expect((await swarm('hosts')).stdout).toMatch(/^machine +draining +1 /m);
    expect((await swarm('drain', '--all', '--undo')).stdout).toBe('machine takes loops again\n');
  });

  it('takes the place of a loop that has the name, and stays until it ends where it is told to', async () => {
    const { submit, cluster, url, env, ...repo } = await makeWorld();
    await submit('a', '--tag', 'old');
    const words = ['--branch', 'ralph/a', '--prompt-file', 'PROMPT.md', '--max-iterations', '5'];
    const waiting = startRalph(
      ['submit', '--name', 'a', '--repo', repo.cwd, ...words, '--replace', '--wait', '--', 'claude'],
      { ...repo, env: { ...env, SWARM_CLUSTER: url }, program: 'swarm' },
    );
    await waitUntil(() => waiting.output.stdout.includes('submitted a'), { timeoutMs: 60_000 });
    expect(await cluster.status('a')).toMatchObject({ status: 'running', tags: [] });
    const claim = await waitUntil(() => cluster.claim(here), { timeoutMs: 60_000 });
    if (claim === null) throw new Error('not given');
    const because = { code: 'auth', text: 'it cannot be done' };
    const counts = { iterations: 1, failures: 1, maxFailures: 5 };
    const decision = { kind: 'stop', outcome: 'AGENT_FAILED', because, ...counts } as const;
    await cluster.finishIteration(claim, ended({ exitCode: 1, decision }));
    expect((await waiting.done).code).toBe(3);
  });

  it('says where no machine is there that could run a loop', async () => {
    const { submit, swarm, cluster } = await makeWorld();
    expect((await submit('a')).stdout).toContain('; no machine that takes loops is there: swarm worker\n');
    await cluster.register({ host: 'plain', labels: [] }, 'id-1');
    expect((await submit('b')).stdout).not.toContain('no machine');
    const labelled = await submit('c', '--label', 'gpu');
    expect(labelled.stdout).toContain(
      '; no machine with the labels gpu is there: swarm worker --labels gpu\n',
    );
    expect((await swarm('why', 'a')).stdout).not.toContain('no machine');
    expect((await swarm('why', 'c')).stdout).toContain('\n  no machine with the labels gpu is there');
    await cluster.drain('plain', true);
    expect((await swarm('why', 'a')).stdout).toContain('\n  no machine that takes loops is there');
    await cluster.drain('away', false);
    expect((await swarm('hosts')).stdout).toMatch(/^away +gone +0 /m);
  });

  it('counts anew by what is on the branches', async () => {
    const { submit, swarm, cluster, git } = await makeWorld();
    await submit('a');
    await submit('b');
    const started = async (name: string) => String((await cluster.status(name))?.startedAt);
    const commit = (name: string, id: string, iteration: number, doneMatched = false) => {
      const end = { how: 'exited', exitCode: 0, doneMatched } as const;
      git('commit', '--quiet', '--allow-empty', '-m', commitMessage({ loop: name, id, iteration, end }));
    };
    git('checkout', '--quiet', '-b', 'ralph/a');
    for (const iteration of [1, 2, 4]) commit('a', await started('a'), iteration);
    commit('b', await started('a'), 3);
    const counted = await swarm('reconcile');
    expect(counted.stderr).toBe('');
    expect(counted.stdout).toBe(
      'a: put right: 2 iterations, the store said 0\nb: right, 0 iterations on ralph/b\n',
    );
    expect(await cluster.status('a')).toMatchObject({ iteration: 2 });
    expect((await swarm('reconcile', 'a')).stdout).toBe('a: right, 2 iterations on ralph/a\n');
    git('checkout', '--quiet', '-b', 'ralph/b', 'main');
    commit('b', 'of an earlier store', 1);
    commit('b', 'of an earlier store', 2, true);
    expect((await swarm('reconcile', 'b')).stdout).toBe('b: right, 0 iterations on ralph/b\n');
    expect((await swarm('reconcile', 'b', '--lost')).stdout).toBe(
      'b: had ended after 2 iterations: done (the done pattern matched)\n',
    );
    expect(await cluster.status('b')).toMatchObject({
      status: 'stopped',
      iteration: 2,
      end: { exitCode: 0 },
    });
  });

  it('refuses what would be a secret in the store, and says what to do instead', async () => {
    const { submit, swarm, cluster, write } = await makeWorld();
    const refused = async (result: Promise<RunResult>, text: string) => {
      const { code, stderr } = await result;
      expect(code).toBe(1);
      expect(stderr).toContain(text);
      expect(stderr).not.toContain('hunter2');
    };
    await refused(submit('a', '--env', 'DB_PASSWORD=hunter2hunter2'), '--env DB_PASSWORD, without a value');
    const token = `ghp_${'a1B2'.repeat(9)}`;
    await refused(submit('a', '--env', `NOTE=${token}`), 'there is a secret in --env');
    await refused(submit('a', '--repo', 'https://me:hunter2@host/x.git'), 'a password or a token in --repo');
    await refused(submit('a', '--repo', 'https://hunter2@host/x.git'), 'a password or a token in --repo');
    await refused(submit('a', '--repo', 'https://git@hunter2@host/x.git'), 'a password or a token in --repo');
    for (const option of ['--tag', '--label', '--branch', '--base', '--cwd', '--env']) {
      await refused(submit('a', option, token), `there is a secret in ${option}`);
    }
    await refused(submit(token), 'there is a secret in --name');
    const asGit = await submit('g', '--repo', 'https://git@host/x.git');
    expect(asGit.code).toBe(0);
    expect(asGit.stderr).toMatch(
      /^swarm: warning: https:\/\/git@host\/x.git cannot be read from here: [^\n]+\n$/,
    );
    await cluster.cancel('g');
    await cluster.forget('g');
    write('PROMPT.md', `use ${token}\n`);
    await refused(submit('a'), 'there is a secret in the prompt');
    expect(await cluster.list()).toEqual([]);
    await refused(swarm('submit', '--name', 'a', '--', 'claude'), '--repo is required');
    await refused(submit('../a'), 'is no name for a worker');
  });

  it('refuses a repository, a branch or a variable that no machine could use, before anything is queued', async () => {
    const { submit, cluster, home } = await makeWorld();
    const refused = async (text: string, ...words: string[]) => {
      const { code, stderr } = await submit('a', ...words);
      expect([code, stderr]).toEqual([1, expect.stringContaining(text)]);
    };
    await refused(`'${home}/typo' does not appear to be a git repository`, '--repo', `${home}/typo`);
    await refused('there is no branch ralph/a and no branch typo', '--base', 'typo');
    for (const branch of ['a..b', '-x', 'HEAD', '', 'a b', 'x.lock', '/a', 'a/'])
      await refused('is no name for a branch', `--branch=${branch}`);
    for (const name of [
      'PATH',
      'NODE_OPTIONS',
      'LD_PRELOAD',
      'BASH_ENV',
      'GIT_SSH_COMMAND',
      'RALPH_SANDBOX',
    ]) {
      await refused(`${name} cannot be set by a loop`, '--env', `${name}=x`);
      await refused(`${name} cannot be set by a loop`, '--env', name);
    }
    await refused('--cwd is a folder inside', '--cwd', '../x');
    expect(await cluster.list()).toEqual([]);
  });

  it('shows a paused loop as paused and a failed one as failed, and does not call a lost store done', async () => {
    const { submit, swarm, cluster, url } = await makeWorld();
    for (const name of ['p', 'f', 'r']) await submit(name);
    await cluster.pause('p');
    const because = { code: 'failures', text: 'it failed' };
    const decision = {
      kind: 'stop',
      outcome: 'AGENT_FAILED',
      because,
      iterations: 1,
      failures: 5,
      maxFailures: 5,
    } as const;
    const claim = await waitUntil(() => cluster.claim(here), { timeoutMs: 60_000 });
    if (claim === null) throw new Error('not given');
    expect(claim.name).toBe('f');
    await cluster.finishIteration(claim, ended({ exitCode: 1, decision }));
    const rows: { name: string; status: string }[] = JSON.parse(
      (await swarm('ls', '--format', 'json')).stdout,
    );
    expect(rows.map(({ name, status }) => `${name} ${status}`)).toEqual([
      'f failed',
      'p paused',
      'r running',
    ]);
    expect((await swarm('ls')).stdout).toMatch(/^f +failed .*\np +paused .*\nr +running /m);
    expect((await swarm('ls', '--status', 'running', '--format', 'names')).stdout).toBe('r\n');
    expect(await swarm('status', 'p')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('(paused, '),
    });
    const waiting = swarm('wait', 'r');
    const { port, pathname } = new URL(url);
    execFileSync('redis-cli', ['-p', port, '-n', pathname.slice(1), 'flushdb']);
    expect((await waiting).code).toBe(1);
    expect(await swarm('wait', '--all')).toMatchObject({ code: 1, stdout: '' });
  });

  it('refuses two loops on one branch', async () => {
    const { submit } = await makeWorld();
    await submit('a');
    const second = await submit('b', '--branch', 'ralph/a');
    expect(second.stderr).toContain("the loop 'a' works on ralph/a already");
  });

  it('takes a password from the environment or a file, never from the command line', async () => {
    const { cwd, env, write, path } = makeRepo();
    const locked = await startRedis(['--requirepass', 'hunter2 hunter2']);
    onTestFinished(() => locked.stop());
    const swarm = (variables: Record<string, string>, ...words: string[]) =>
      runRalph(words, { cwd, env: { ...env, ...variables }, program: 'swarm' });
    const typed = await swarm({}, 'ls', '--cluster', locked.url.replace('//', '//:hunter2%20hunter2@'));
    expect(typed).toMatchObject({ code: 2, stdout: '' });
    expect(typed.stderr).toContain('SWARM_CLUSTER_PASSWORD');
    const without = await swarm({}, 'ls', '--cluster', locked.url);
    expect(without).toMatchObject({ code: 1, stderr: expect.stringContaining('NOAUTH') });
    const words = ['ls', '--cluster', locked.url];
    expect(await swarm({ SWARM_CLUSTER_PASSWORD: 'hunter2 hunter2' }, ...words)).toMatchObject({ code: 0 });
    write('secret', 'hunter2 hunter2\n');
    expect(await swarm({ SWARM_CLUSTER_PASSWORD_FILE: path('secret') }, ...words)).toMatchObject({ code: 0 });
    const whole = { SWARM_CLUSTER: locked.url.replace('//', '//:hunter2%20hunter2@') };
    expect(await swarm(whole, 'ls')).toMatchObject({ code: 0 });
    const wrong = await swarm({ SWARM_CLUSTER: locked.url.replace('//', '//:hunter3@') }, 'ls');
    expect(wrong.code).toBe(1);
    expect(wrong.stderr).not.toContain('hunter3');
  });

  it('checks the certificate of a store with TLS', async () => {
    const { cwd, env, path } = makeRepo();
    const [key, cert] = [path('key.pem'), path('cert.pem')];
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'rsa:2048',
        '-nodes',
        '-days',
        '2',
        '-keyout',
        key,
        '-out',
        cert,
        ...subject,
      ],
      { stdio: 'ignore' },
    );
    const port = await freePort();
    const files = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', cert];
    const safe = await startRedis(['--tls-port', String(port), ...files, '--tls-auth-clients', 'no']);
    onTestFinished(() => safe.stop());
    const words = ['ls', '--cluster', `rediss://127.0.0.1:${port}/0`];
    const run = (variables: Record<string, string>) =>
      runRalph(words, { cwd, env: { ...env, ...variables }, program: 'swarm' });
    expect(await run({ SWARM_CLUSTER_CA: cert })).toMatchObject({ code: 0, stderr: '' });
    const unknown = await run({});
    expect(unknown.code).toBe(1);
    expect(unknown.stderr).toContain('self-signed certificate');
  });

  it('says in one sentence that a store is not there', async () => {
    const { cwd, env } = makeRepo();
    const run = (...words: string[]) => runRalph(words, { cwd, env, program: 'swarm' });
    const port = await freePort();
    const { code, stderr } = await run('ls', '--cluster', `redis://127.0.0.1:${port}/0`);
    expect(code).toBe(1);
    expect(stderr).toContain(`cannot work with redis://127.0.0.1:${port}/0: connect ECONNREFUSED`);
    expect(stderr.trim().split('\n')).toHaveLength(2);
    const postgres = await run('ls', '--cluster', 'postgres://127.0.0.1/fleet');
    expect(postgres).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/only on Redis .*\n.*redis:\/\//),
    });
    expect((await run('ls', '--cluster', 'http://x')).stderr).toContain('not the address of a cluster');
  });
});
