import { toJsonSchema } from '@valibot/to-json-schema';

/**
 * Returns the JSON Schema of a settings file, for editors. It describes what a person writes: conversions are ignored,
 * and mode `output` takes the last schema of each pipe, which says more than "any text" of a `failAction`.
 */
export function settingsJsonSchema(settingsSchema) {
  return toJsonSchema(settingsSchema, {
    typeMode: 'output',
    ignoreActions: ['transform', 'raw_transform', 'to_upper_case', 'finite'],
  });
}
