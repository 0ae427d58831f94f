/** Fills `{{NAME}}` in one pass with literal text: what a value holds (`$&`, `{{OTHER}}`) is never looked at again. */
export function fillTemplate(template: string, values: Readonly<Record<string, string | number>>): string {
  return template.replace(/\{\{(\w+)\}\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? String(values[name]) : whole,
  );
}
