import { defineError } from '#infra/errors/errors.ts';
import { configModels, modelOfType } from '#models/registry.ts';

export const UnknownModelError = defineError({
  name: 'UnknownModelError',
  code: 'CV_MODEL_UNKNOWN',
  remedy: 'Give the full protobuf name of a model; the text lists those that there are.',
});

export const WrongKeyError = defineError({
  name: 'WrongKeyError',
  code: 'CV_MODEL_WRONG_KEY',
  remedy: 'Give the value under the key that the text names, without the prefix of the agent.',
});

/**
 * A configuration value that somebody gives by type and key.
 * @throws UnknownModelError, WrongKeyError, InvalidModelError
 */
export function parseValue(type: string, json: unknown, key: string): object {
  const model = modelOfType(type);
  if (!model) {
    const known = configModels.map(({ typeName }) => typeName).join(', ');
    throw new UnknownModelError(`"${type}" is no model; there are ${known}`, { where: key });
  }
  const value = model.parse(json, key);
  const own = model.key(value);
  if (own !== key) throw new WrongKeyError(`the key of this value is ${own}`, { where: key });
  return value;
}
