/** A module that is called on the spot: `require('fs/promises').rm(…)`. */
export function withoutModules(source: string): string {
  return source.replace(
    /\b(?:require|import)\(\s*["'](?:node:)?(fs|child_process)(?:\/promises)?["']\s*\)(?:\.promises)?(?=\.)/g,
    '$1',
  );
}

const keyText = `(["']\\w*["'](?:\\s*(?:\\+\\s*)?["']\\w*["'])*)\\s*`;
const keyOfObject = new RegExp(`\\bgetattr\\(\\s*([\\w.]+)\\s*,\\s*${keyText}\\)`, 'g');
const keyInBrackets = new RegExp(`([\\w)])\\[${keyText}\\](?=\\s*\\()`, 'g');

/** `'sys' + 'tem'` */
function joinedText(texts: string): string {
  return texts.replace(/["'+\s]/g, '');
}

/** `fs['rmSync'](…)` and `getattr(os, 'system')(…)` as one would write them. */
export function withoutKeys(source: string): string {
  if (!/import|require|getattr|\benv\b|\[\s*["']/.test(source)) return source;
  const plain = source
    .replace(/\b(?:__import__|importlib\.import_module)\(\s*["'](\w+)["']\s*\)/g, '$1')
    .replace(/\brequire\(\s*["'](?:node:)?(net|tls|https?|dns|axios|got)["']\s*\)(?=\s*[.(])/g, '$1')
    .replace(keyOfObject, (_, object: string, key: string) => `${object}.${joinedText(key)}`)
    .replace(keyInBrackets, (_, before: string, key: string) => `${before}.${joinedText(key)}`);
  return /\{\s*env\s*\}\s*=\s*process\b/.test(plain)
    ? plain.replace(/(?<![.\w])env(?=[.[])/g, 'process.env')
    : plain;
}

const modules = '(?:node:)?(fs(?:/promises)?|child_process|os|shutil|subprocess|net|tls|https?|dns)';

const imports = [
  new RegExp(`\\bimport\\s*\\{([^}]*)\\}\\s*from\\s*["']${modules}["']`, 'g'),
  new RegExp(`\\{([^{}]*)\\}\\s*=\\s*(?:await\\s+)?(?:require|import)\\(\\s*["']${modules}["']\\s*\\)`, 'g'),
];

const loads = `(?:require|import)\\(\\s*["']${modules}["']\\s*\\)(?:\\.promises)?`;

/** Matches `import(…).then(name =>`, which binds the module, or functions of it. */
const importedLater = new RegExp(
  `${loads}\\.then\\(\\s*(?:async\\b\\s*)?(?:\\(\\s*)?(\\w+|\\{[^{}]*\\})\\s*(?:\\)\\s*)?=>`,
  'g',
);

const importedAs = new RegExp(`\\b(\\w+)\\s*=\\s*(?:await\\s+)?${loads}`, 'g');

/** Functions taken out of a module get its name back: `rm(…)` after an import from fs is `fs.rm(…)`. */
export function withoutImports(source: string): string {
  if (!/import|require/.test(source)) return source;
  const importLists = [
    ...imports.flatMap((pattern) => [...source.matchAll(pattern)].map(([, names, from]) => [names, from])),
    ...[...source.matchAll(importedLater)].flatMap(([, from, names = '']) =>
      names.startsWith('{') ? [[names.slice(1, -1), from]] : [],
    ),
    ...[...source.matchAll(/\bfrom\s+(os|shutil|subprocess)\s+import\s+([\w ,]+)/g)].map(
      ([, from, names]) => [names, from],
    ),
  ];
  const full = new Map<string, string>();
  for (const [names = '', from = ''] of importLists) {
    for (const item of names.split(',')) {
      const [, name, , alias = name] = /^\s*(\w+)(\s*(?::|\bas\b)\s*(\w+))?\s*$/.exec(item) ?? [];
      if (name !== undefined && alias !== undefined) full.set(alias, `${moduleName(from)}.${name}`);
    }
  }
  if (full.size === 0) return source;
  return source.replace(/(?<![.\w])\w+(?=\s*\()/g, (name) => full.get(name) ?? name);
}

/** Calls by another name, as after `import x as y`, get their own name back. */
export function withoutAliases(source: string): string {
  if (!/import|require|=\s*[\w.]*(?:\([^()]*\))?\./.test(source)) return source;
  const aliases = [
    ...source.matchAll(/\bimport\s+(\w+)\s+as\s+(\w+)/g),
    ...source.matchAll(/[{,]\s*(\w+)\s*:\s*(\w+)\s*(?=[,}][^=;]{0,400}=\s*(?:await\s+)?(?:require|import))/g),
    ...[...source.matchAll(importedLater)].map(([all, from = '', alias = '']) => [
      all,
      moduleName(from),
      alias,
    ]),
    ...[...source.matchAll(importedAs)].map(([all, alias = '', from = '']) => [all, moduleName(from), alias]),
    ...[...source.matchAll(/\b(\w+)\s*=\s*[\w.]*(?:\([^()]*\))?\.(\w+)\s*(?=[;\n,]|$)/g)].map(
      ([all, alias = '', name = '']) => [all, name, alias],
    ),
  ];
  if (aliases.length === 0) return source;
  const names = new Map(aliases.map(([, name = '', alias = '']) => [alias, name]));
  return source.replace(/(?<![.\w])\w+(?=\s*[.(])/g, (alias) => names.get(alias) ?? alias);
}

function moduleName(from: string): string {
  return from.replace('/promises', '');
}

/** Perl's other quotes become plain ones, and a call without a name gets the one that it takes. */
export function plainPerl(source: string): string {
  if (!/\bqq?\s*[({[]|\bunlink\s*[};]/.test(source)) return source;
  return source
    .replace(/\bqq?\s*[({[]([^(){}[\]]*)[)}\]]/g, (_, text: string) => JSON.stringify(text))
    .replace(/\bunlink(?=\s*[};])/g, 'unlink $_');
}
