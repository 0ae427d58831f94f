// What a judgement of a command of 16 KB costs inside a warm process, by the shape of the command, in CPU time, against
// the parser alone.
import { fileURLToPath } from 'node:url';
import { loadSource } from '../scripts/load-source.mjs';
import { compare, interleave } from './support/measure.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const context = {
  cwd: '/home/dev/project',
  home: '/home/dev',
  projectRoot: '/home/dev/project',
  unattended: true,
  env: {},
};

/** One command of 16 KB, of parts that differ in a number. */
function repeated(part, between = '; ') {
  let text = part(0);
  for (let i = 1; text.length < 16 * 1024; i += 1) text += between + part(i);
  return text;
}

/** What agents type all day; N is a number. */
const mixed = [
  '(cd packages/pN && npm run build 2>&1 | tail -n 20)',
  'git add -A && git commit -m "fix(coreN): keep the last line" && git log --oneline -5',
  'grep -rn "functionN" src --include="*.ts" | head -n 30',
  'for f in src/partN/*.ts; do npx prettier --check "$f" || echo "$f"; done',
  "sed -i 's/oldN/newN/g' src/fileN.ts && git diff --stat",
  'mkdir -p build/N && cp -r assets build/N/ && rm -rf build/N/tmp',
  "python3 -c \"import json; print(json.load(open('package.json'))['version'], N)\"",
  'curl -s http://localhost:3000/api/N | jq .items[0].name',
  'TOKEN_COUNT=N npm test -- --run testN 2>/dev/null || true',
  'if [ -f out/N.log ]; then tail -n 50 out/N.log; else echo "no log $(date +%s)"; fi',
  'find . -name "*.tmpN" -not -path "./node_modules/*" -delete',
  'cat > notes/N.md <<EOF\nStep N: never run rm -rf / here.\nEOF',
];

const shapes = {
  'a mix': repeated((i) => mixed[i % mixed.length].replaceAll('N', i), '\n'),
  'simple commands': repeated((i) => `cp src/a${i}.ts dist/a${i}.ts`),
  'simple lines': repeated((i) => `grep -n foo src/a${i}.ts`, '\n'),
  pipes: repeated((i) => `grep -v x${i} | sort -u | head -n 5`, ' | '),
  loops: repeated((i) => `for f in a b c; do echo "$f${i}"; done`),
  conditions: repeated((i) => `if [ -f f${i} ]; then cat f${i}; fi`),
  variables: repeated((i) => `V${i}=v; echo $V${i}`),
  substitutions: repeated((i) => `echo $(date +%s) $(cat f${i})`),
  subshells: repeated((i) => `(cd d${i} && ls)`),
  braces: repeated((i) => `touch {a,b}${i}`),
  'nested shells': repeated((i) => `bash -c "echo 'a' \\"b${i}\\" $HOME"`),
  searches: repeated((i) => `find . -name 'x${i}' | xargs rm -f`),
  'inline code': repeated((i) => `node -e "console.log(${i} + 1)"`),
  'heredoc of code': `python3 - <<'EOF'\n${repeated((i) => `x${i} = open("f${i}.txt").read()`, '\n')}\nEOF`,
  'heredoc of text': `cat > notes.md <<'EOF'\n${'Never run rm -rf / here.\n'.repeat(655)}EOF`,
  'one word': `echo ${'a'.repeat(16 * 1024)}`,
};

export async function run(_room, { rounds = 31 }) {
  const modules = ['judge', 'parse', 'commands/all'].map((name) => `packages/guard/src/${name}.ts`);
  const { judgeCommand, parseShell, loadRarePrograms } = await loadSource(root, modules, { onDemand: true });
  await loadRarePrograms();
  const rows = [];
  for (const [name, command] of Object.entries(shapes)) {
    const { ours, floor } = await interleave(
      { ours: cpuOf(() => judgeCommand(command, context)), floor: cpuOf(() => parseShell(command)) },
      { rounds, warmups: 31 },
    );
    rows.push(compare(`guard, 16 KB of ${name}`, { unit: 'ms', ours, floor, against: 'its parser' }));
  }
  return rows;
}

/** Milliseconds of the processor for one call. */
function cpuOf(act, times = 5) {
  return () => {
    const before = process.cpuUsage();
    for (let i = 0; i < times; i += 1) act();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000 / times;
  };
}
