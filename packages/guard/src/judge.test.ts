import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadRarePrograms } from './commands/all.ts';
import { followCommand, judgeCommand, judgeFile } from './judge.ts';
import type { GuardContext } from './model.ts';

await loadRarePrograms();

const context: GuardContext = {
  cwd: '/home/dev/project',
  home: '/home/dev',
  projectRoot: '/home/dev/project',
  unattended: true,
  env: {},
};
const verdictOf = (command: string, over: Partial<GuardContext> = {}) =>
  judgeCommand(command, { ...context, ...over }).verdict;
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

const denied = [
  'rm -rf ~',
  'cat ~/.ssh/id_rsa',
  'git reset --hard',
  'echo {} > .claude/settings.json',
  'find ~ -delete',
  'rm -rf .git',
];

const wrappers: readonly ((command: string) => string)[] = [
  (command) => `env A=1 bash -c ${quoted(command)}`,
  (command) => `timeout 5 sh -c ${quoted(command)}`,
  (command) => `nice -n 3 nohup bash -ec ${quoted(command)}`,
  (command) => `bash -c ${quoted(command)}`,
  (command) => `sh -c ${quoted(`:; ${command}`)}`,
  (command) => `eval ${quoted(command)}`,
  (command) => `echo "$( ${command} )"`,
  (command) => `( ${command} )`,
  (command) => `{ ${command}; }`,
  (command) => `true && ${command}`,
  (command) => `f() { ${command}; }; f`,
  (command) => `if true; then ${command}; fi`,
  (command) => `for i in 1; do ${command}; done`,
  (command) => `x=${quoted(command)}; eval "$x"`,
  (command) => `echo ${Buffer.from(command).toString('base64')} | base64 -d | sh`,
  (command) => `bash <<'END'\n${command}\nEND`,
  (command) => `cat <<'END' > /tmp/s.sh\n${command}\nEND\nsh /tmp/s.sh`,
  (command) => `echo x | xargs -I{} sh -c ${quoted(command)}`,
  (command) => `find . -maxdepth 0 -exec sh -c ${quoted(command)} \\;`,
  (command) => `python3 -c ${quoted(`import os; os.system(${JSON.stringify(command)})`)}`,
  (command) => `git -c alias.x=${quoted(`!${command}`)} x`,
  (command) => `cat <( ${command} )`,
  (command) => `trap ${quoted(command)} EXIT`,
];

describe('judgeCommand', () => {
  it('never throws and always decides, whatever it is given', () => {
    const piece = fc.constantFrom(
      'rm',
      '-rf',
      '~',
      '$(',
      ')',
      '`',
      '"',
      "'",
      '{',
      '}',
      '|',
      '&&',
      ';',
      '<<EOF\n',
      '${x',
      '\\',
      '\n',
      '*',
      '<(',
      '((',
      'eval',
      'bash -c',
      '\uE000',
      '\uE006',
      '\0',
      'é',
      'python3 -c',
      'awk',
      'find . -exec',
      'if',
      'case x in',
    );
    const shellish = fc.array(piece, { maxLength: 25 }).map((pieces) => pieces.join(' '));
    fc.assert(
      fc.property(fc.oneof(shellish, fc.string({ unit: 'binary', maxLength: 200 })), (command) => {
        expect(['allow', 'warn', 'deny']).toContain(verdictOf(command));
      }),
      { numRuns: 1500 },
    );
  });

  it('finds any command harmless as text to print', () => {
    fc.assert(
      fc.property(fc.oneof(fc.constantFrom(...denied), fc.string({ maxLength: 80 })), (command) => {
        expect(verdictOf(`echo ${quoted(command.replaceAll('\0', ''))}`)).toBe('allow');
      }),
      { numRuns: 500 },
    );
  });

  it('denies a denied command inside any wrapper, three deep', () => {
    const wrapper = fc.constantFrom(...wrappers);
    fc.assert(
      fc.property(
        fc.constantFrom(...denied),
        fc.array(wrapper, { minLength: 1, maxLength: 3 }),
        (command, around) => {
          const wrapped = around.reduce((inner, wrap) => wrap(inner), command);
          // Two heredocs with the same end inside one another are another command.
          fc.pre(wrapped.split('END').length <= 3);
          expect(verdictOf(wrapped), wrapped).toBe('deny');
        },
      ),
      { numRuns: 600 },
    );
  });

  it('knows that a shell without arithmetic takes double parentheses for two subshells', () => {
    expect(verdictOf('((rm -rf ~))')).toBe('deny');
    expect(verdictOf('((i++)); (( x = y + 1 )); ((a < b))')).toBe('allow');
  });

  it('tells the agent what to do instead', () => {
    const { verdict, category, reason } = judgeCommand('git reset --hard HEAD~1', context);
    expect({ verdict, category }).toEqual({ verdict: 'deny', category: 'git' });
    expect(reason).toContain('git stash');
  });

  it('denies what cannot be parsed only where nobody can be asked', () => {
    expect(verdictOf('rm "')).toBe('deny');
    expect(verdictOf('rm "', { unattended: false })).toBe('warn');
  });

  it('denies what would take forever to follow', () => {
    expect(verdictOf('x=:; for a in {a..z}{a..z}{a..z}; do for b in {a..z}{a..z}; do $x; done; done')).toBe(
      'deny',
    );
  });

  it('takes the environment as it is, where an unset variable is empty', () => {
    expect(verdictOf('rm -rf "$OUT/"')).toBe('deny');
    expect(verdictOf('rm -rf "$OUT/"', { env: { OUT: '/tmp/out' } })).toBe('allow');
  });

  it('sees where a symbolic link on the disk leads, but lets the link itself go', () => {
    const realPath = (path: string) => path.replace('/home/dev/project/link', '/home/dev/Documents');
    expect(verdictOf('echo x > link/notes.txt')).toBe('allow');
    expect(verdictOf('echo x > link/notes.txt', { realPath })).toBe('deny');
    expect(verdictOf('rm link', { realPath })).toBe('allow');
  });

  it('counts each value that a branch may have given a variable', () => {
    expect(verdictOf('if test -d x; then d=dist; else d=~; fi; rm -rf "$d"')).toBe('deny');
    expect(verdictOf('if test -d x; then d=dist; else d=build; fi; rm -rf "$d"')).toBe('allow');
  });

  it('knows a home that is not under /home', () => {
    const root = { ...context, home: '/root' };
    expect(judgeCommand('echo x >> ~/.bashrc', root)).toMatchObject({
      verdict: 'deny',
      category: 'persistence',
    });
    expect(judgeCommand('rm -rf ~/.cache/pip', root).verdict).toBe('allow');
    expect(judgeCommand('cat ~/.netrc', root)).toMatchObject({ verdict: 'deny', category: 'credentials' });
  });

  it('leaves the neighbours of a project under /tmp alone', () => {
    const project = { cwd: '/tmp/a/project', projectRoot: '/tmp/a/project' };
    expect(verdictOf('rm -rf ../other', project)).toBe('deny');
    expect(verdictOf('rm -rf /tmp/b', project)).toBe('allow');
  });

  it('follows many nested loops over numbers without giving up', () => {
    expect(verdictOf('for i in {1..200}; do for j in {1..200}; do echo $i $j; done; done')).toBe('allow');
  });
});

describe('file tools', () => {
  it.each([
    ['.ralph/settings.json', 'loop-state'],
    ['.claude/settings.json', 'agent-settings'],
    ['src/../.git/hooks/pre-commit', 'git-hooks'],
    ['~/.bashrc', 'persistence'],
    ['/home/dev/.ssh/authorized_keys', 'persistence'],
    ['/etc/hosts', 'sensitive-path'],
    ['../sibling/x.ts', 'destructive-files'],
    ['node_modules/ralphkit/dist/ralph.cjs', 'loop-state'],
    ['/home/dev/.nvm/lib/node_modules/ralphkit/plugins/claude-code/hooks/gate.sh', 'loop-state'],
    ['/home/dev/.local/state/ralph/compile-cache/v22.1.0-x64-1/6b7072b2', 'loop-state'],
  ])('must not write %s', (path, category) => {
    expect(judgeFile('write', path, context)).toMatchObject({ verdict: 'deny', category });
  });

  it.each([
    'src/a.ts',
    '/home/dev/project/package.json',
    '/tmp/x',
    '.claude/commands/x.md',
    '.env.example',
    'node_modules/ralphkit-theme/index.js',
  ])('may write %s', (path) => {
    expect(judgeFile('write', path, context)).toEqual({ verdict: 'allow' });
  });

  it('must not read keys', () => {
    expect(judgeFile('read', '~/.ssh/id_rsa', context)).toMatchObject({
      verdict: 'deny',
      category: 'credentials',
    });
    expect(judgeFile('read', 'src/a.ts', context)).toEqual({ verdict: 'allow' });
  });
});

describe('a project around the home', () => {
  const places = [
    { projectRoot: '/', cwd: '/' },
    { projectRoot: '/home', cwd: '/home' },
    { projectRoot: '/home/dev', cwd: '/home/dev' },
  ];

  it.each(places)(
    "in $projectRoot leaves what is the user's and the system's as guarded as ever",
    (place) => {
      for (const command of [
        'rm -rf ~/Documents',
        'rm -rf ~/.config',
        'cd ~ && rm -rf *',
        'cat ~/.aws/credentials',
        'cp ~/.ssh/id_ed25519 k',
        'echo x >> ~/.bashrc',
        'echo x > /etc/hosts',
        'cat /etc/shadow',
        'echo {} > .claude/settings.json',
        'rm -rf .ralph',
        'docker run -v /:/host alpine',
      ])
        expect([command, verdictOf(command, place)]).toEqual([command, 'deny']);
    },
  );

  it.each(places.filter(({ cwd }) => cwd !== '/home'))(
    'in $projectRoot lets the work there go on',
    (place) => {
      for (const command of ['rm -rf dist', 'echo x > out.txt', 'cp .env.example .env', 'rm -rf /tmp/x'])
        expect([command, verdictOf(command, place)]).toEqual([command, 'allow']);
    },
  );

  it('keeps a home apart from a folder around it', () => {
    expect(verdictOf('rm ~/notes.txt', { projectRoot: '/home', cwd: '/home' })).toBe('deny');
  });
});

describe('a home under /tmp', () => {
  it.each([
    'cat ~/.netrc',
    'while read l; do echo $l; done < ~/.ssh/id_rsa',
    'cp ~/.env /tmp/x.txt',
    'python3 -m http.server -d ~',
  ])('is a home all the same: %s', (command) => {
    const place = { home: '/tmp/throw/home', projectRoot: '/tmp/throw/home/p', cwd: '/tmp/throw/home/p' };
    expect(verdictOf(command, place)).toBe('deny');
  });
});

describe('a judgement', () => {
  it('ends with the first thing that is denied', () => {
    const asked: string[] = [];
    const realPath = (path: string) => {
      asked.push(path);
      return path;
    };
    expect(verdictOf('touch a; cat ~/.netrc; touch b', { realPath })).toBe('deny');
    expect(asked).toContain('/home/dev/project/a');
    expect(asked).not.toContain('/home/dev/project/b');
  });
});

describe('variables of a private file', () => {
  it.each([
    'export $(cat .env)',
    "export $(grep -v '^#' .env | xargs) && npm test",
    "export $(sed 's/#.*//g' .env | xargs) >/dev/null; node --version",
  ])('may be loaded: %s', (command) => {
    expect(verdictOf(command)).toBe('allow');
  });

  it.each([
    'export $(cat .env >&2)',
    'export $(cat .env | tee /dev/stderr)',
    'export $(cat .env > /dev/tty)',
    'export $(sh -c "cat .env >&2")',
    `export $(awk '{print > "/dev/stderr"}' .env)`,
    'export $(cp .env /tmp/x); cat /tmp/x',
    'export $(sed -n p .env | dd of=/tmp/o); cat /tmp/o',
    'export $(cat .env) && env',
    'export $(cat ~/.ssh/id_rsa)',
    'export $(cat id_rsa)',
  ])('are not read out on the way: %s', (command) => {
    expect(verdictOf(command, { env: {} })).toBe('deny');
  });
});

describe('a long command', () => {
  it('of 16 KB takes one step for each command in it, and judges each file once', () => {
    const parts = Array.from({ length: 500 }, (_, i) => `cp src/file-${i}.ts dist/file-${i % 10}.ts`);
    const command = parts.join('; ');
    expect(command.length).toBeGreaterThan(16_000);
    const { verdict, steps, effects } = followCommand(command, context);
    expect(verdict).toBe('allow');
    expect(steps).toHaveLength(500);
    expect(effects.length).toBeLessThanOrEqual(1000);
  });

  it('of one long text is one step', () => {
    const { verdict, steps } = followCommand(`echo '${'rm -rf ~ '.repeat(2000)}' > notes.txt`, context);
    expect({ verdict, steps: steps.length }).toEqual({ verdict: 'allow', steps: 1 });
  });
});

describe('a command that would take minutes to follow', () => {
  const code = (program: string, part: string) => `${program} - <<'EOF'\n${part.repeat(20_000)}\nEOF`;
  it.each([
    ['calls inside of calls', code('python3', 'a=open(')],
    ['calls without brackets', code('perl', 'unlink ')],
    ['methods of calls', code('node', "a = foo('x').bar(")],
    ['braces without an end', `echo ${'{a,'.repeat(20_000)}`],
    ['every program with every word', '/* '.repeat(20_000)],
    ['a long script of sed', `sed '${'s/a/b/;'.repeat(20_000)}' f`],
  ])(
    'is denied at once: %s',
    (_name, command) => {
      expect(judgeCommand(command, context)).toMatchObject({ verdict: 'deny', category: 'unparsable' });
    },
    20_000,
  );

  it.each([
    ['stars in a replacement', `x=${'a'.repeat(7000)}; echo \${x//a*a*b/}; cat ~/.ssh/id_rsa`],
    ['a long PATH', `echo x > f; PATH=${'a:'.repeat(15_000)}; ${'b\n'.repeat(15_000)}cat ~/.ssh/id_rsa`],
    ['blanks for an editor', `ed f <<E\n${' \n'.repeat(30_000)}E\ncat ~/.ssh/id_rsa`],
    ['blanks for PowerShell', `pwsh -c '${'\n'.repeat(60_000)}'; cat ~/.ssh/id_rsa`],
    ['text through many programs', `echo ${'a'.repeat(20_000)}${' | tr a b'.repeat(5000)}`],
    [
      'separators',
      `while IFS=${'a,'.repeat(130)} read x; do :; done <<< ${'a,'.repeat(20_000)}; cat ~/.ssh/id_rsa`,
    ],
    ['a heredoc that doubles', `x=ab\n${'read -r x <<E\n$x$x\nE\n'.repeat(40)}`],
    ['many words to shift', `set -- ${'a '.repeat(20_000)}; while [ $1 ]; do shift; done; cat ~/.ssh/id_rsa`],
  ])(
    'is denied in time: %s',
    (_name, command) => {
      expect(verdictOf(command)).toBe('deny');
    },
    20_000,
  );

  it('is not one that goes over many files and words', () => {
    expect(verdictOf('mkdir -p data/{a..z}/{a..z}/{0..9}')).toBe('allow');
    const names = Array.from({ length: 2000 }, (_, i) => `src/file-${i}.ts`).join(' ');
    const body = 'a="$f"; echo "$a"; wc -l "$f"; grep -c x "$f"; head -n 1 "$f"; tail -n 1 "$f"';
    expect(verdictOf(`for f in ${names}; do ${body}; done`)).toBe('allow');
  });

  it('is not one that only writes much', () => {
    const json = JSON.stringify(Array.from({ length: 5000 }, (_, id) => ({ id, tags: [{ name: 'a' }] })));
    expect(judgeCommand(`cat > data.json <<'EOF'\n${json}\nEOF`, context)).toMatchObject({
      verdict: 'allow',
    });
    const lines = Array.from({ length: 3000 }, (_, i) => `x${i} = open("f${i}.txt").read()`).join('\n');
    expect(judgeCommand(`python3 - <<'EOF'\n${lines}\nEOF`, context)).toMatchObject({ verdict: 'allow' });
  });
});
