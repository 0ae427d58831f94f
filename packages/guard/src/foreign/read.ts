import { PRIVATE, secretOf } from '../marks.ts';
import { isSecretName } from '../secret-names.ts';
import { type Code, endOf, type Language, mask, spend, workFor } from './code.ts';
import { plainPerl, withoutAliases, withoutImports, withoutKeys, withoutModules } from './rewrite.ts';
import { evaluate } from './values.ts';

export function readCode(
  text: string,
  language: Language,
  home: string,
  variables: Iterable<[string, string]> = [],
): Code {
  const plain = language === 'perl' ? plainPerl(text) : text;
  const source = withoutModules(withoutAliases(withoutImports(withoutKeys(plain))));
  const masked = mask(source, language);
  const code: Code = { language, source, masked, names: new Map(variables), home, work: workFor(source) };
  const assignment =
    /(?:^|[;\n{(,]|\b(?:const|let|var|my|our|local)\b)[^\S\n]*[$@]?([A-Za-z_]\w*)\s*=(?![=>~])\s*/g;
  for (const match of code.masked.matchAll(assignment)) {
    const start = match.index + match[0].length;
    const end = endOf(code.masked, start, ';\n');
    spend(code, end - start);
    code.names.set(match[1] ?? '', evaluate(code, source.slice(start, end)));
  }
  environmentNames(code);
  return code;
}

function environmentNames({ masked, names }: Code): void {
  for (const [, name = ''] of masked.matchAll(
    /\bfor\s+(?:\w+\s*,\s*)?(\w+)\s+in\s+(?:\w+\()?os\.environ\.(?:items|values)\b/g,
  ))
    names.set(name, PRIVATE);
  for (const [, , name = 'environ'] of masked.matchAll(
    /\bfrom\s+os\s+import\s+([^;\n]*,\s*)?environ\b(?:\s+as\s+(\w+))?/g,
  ))
    names.set(name, PRIVATE);
  for (const [, list = ''] of masked.matchAll(/\{([^{}]*)\}\s*=\s*process\.env\b/g)) {
    for (const item of list.split(',')) {
      const [variable = '', name = variable] = item.split(':').map((part) => part.trim());
      if (isSecretName(variable)) names.set(name, secretOf(variable));
    }
  }
}
