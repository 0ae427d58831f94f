// Limits of size: lines of a file, lines of a function, parameters of a signature.
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import ts from 'typescript';

const limits = { file: 300, function: 60, parameters: 4 };

/** `FILE`, or `FILE NAME` for a function, and why it may be larger. */
const exceptions = JSON.parse(readFileSync(new URL('size-exceptions.json', import.meta.url), 'utf8'));

/** Every size above its limit in these files, as `file:line rule`, and every exception that nothing needs any more. */
export async function sizeBreaches(root, files) {
  const breaches = (await Promise.all(files.map((file) => breachesIn(root, file)))).flat();
  const nameOf = ({ file, name }) => (name === undefined ? file : `${file} ${name}`);
  const needed = new Set(breaches.map(nameOf));
  return [
    ...breaches
      .filter((breach) => !Object.hasOwn(exceptions, nameOf(breach)))
      .map(({ file, line, rule }) => `${file}:${line} ${rule}`),
    ...Object.keys(exceptions)
      .filter((name) => !needed.has(name))
      .map((name) => `scripts/size-exceptions.json:1 ${name} is within the limits`),
  ];
}

async function breachesIn(root, file) {
  const text = await readFile(join(root, file), 'utf8').catch(() => ''); // A deleted file is still in the index.
  const tree = ts.createSourceFile(file, text, {
    languageVersion: ts.ScriptTarget.Latest,
    jsDocParsingMode: ts.JSDocParsingMode.ParseNone,
  });
  const lineAt = (position) => tree.getLineAndCharacterOfPosition(position).line + 1;
  const breaches = [];
  const lines = text.split('\n').length - 1;
  if (lines > limits.file) {
    breaches.push({ file, line: 1, rule: `${lines} lines, more than ${limits.file} in a file` });
  }
  visit(tree, tree);
  return breaches;

  function visit(node, parent) {
    if (ts.isFunctionLike(node)) measure(node, parent);
    ts.forEachChild(node, (child) => visit(child, node));
  }

  function measure(node, parent) {
    const name = (node.name ?? parent.name)?.getText(tree) ?? 'a function without a name';
    const line = lineAt(node.getStart(tree));
    const length = lineAt(node.end) - line + 1;
    const parameters = node.parameters.length;
    const rule = (count, limit, what) => `${name}: ${count} ${what}, more than ${limit}`;
    if (length > limits.function)
      breaches.push({ file, line, name, rule: rule(length, limits.function, 'lines') });
    if (parameters > limits.parameters)
      breaches.push({ file, line, name, rule: rule(parameters, limits.parameters, 'parameters') });
  }
}
