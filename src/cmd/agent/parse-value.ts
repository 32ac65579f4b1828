import { defineError } from '#infra/errors/errors.ts';
import { externalKey } from '#models/external-value.ts';
import { configModels, modelOfType } from '#models/registry.ts';

export const UnknownModelError = defineError({
  name: 'UnknownModelError',
  code: 'CV_MODEL_UNKNOWN',
  remedy: 'Use the full protobuf name of a model; the error lists all models.',
});

export const WrongKeyError = defineError({
  name: 'WrongKeyError',
  code: 'CV_MODEL_WRONG_KEY',
  remedy: 'Use the key that the error names, without the prefix of the agent.',
});

/**
 * Parses a configuration value that a client sends with its type and key.
 * @throws UnknownModelError, WrongKeyError, InvalidModelError
 */
export function parseValue(type: string, json: unknown, key: string): object {
  const model = modelOfType(type);
  if (!model) {
    const known = configModels.map(({ typeName }) => typeName).join(', ');
    throw new UnknownModelError(`unknown model "${type}"; known models: ${known}`, { where: key });
  }
  const value = model.parse(json, key);
  const own = externalKey(model, value, key);
  if (own !== key) throw new WrongKeyError(`the key of this value must be ${own}`, { where: key });
  return value;
}
