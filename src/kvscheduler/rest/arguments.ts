/** Query arguments of the scheduler's routes. An error lists the accepted arguments or values. */
import { argument, BadRequestError, type RouteRequest } from '#infra/http/route.ts';

/**
 * @param repeatable arguments that may be given more than once
 * @throws BadRequestError for an unknown argument, and for one that is given twice
 */
export function allowOnly(
  request: RouteRequest,
  names: readonly string[],
  repeatable: readonly string[] = [],
): void {
  for (const [name, { length }] of Object.entries(request.query)) {
    if (!names.includes(name)) {
      const accepted = names.length === 0 ? 'none is accepted' : `accepted: ${names.join(', ')}`;
      throw new BadRequestError(`unknown argument ${name}; ${accepted}`);
    }
    if (length > 1 && !repeatable.includes(name))
      throw new BadRequestError(`argument ${name} is given ${length} times, but is accepted once`);
  }
}

/** @throws BadRequestError unless the argument is absent or one of the choices */
export function choiceArgument<T extends string>(
  request: RouteRequest,
  name: string,
  choices: readonly T[],
): T | undefined {
  const text = argument(request, name);
  const choice = choices.find((one) => one === text);
  if (text === undefined || choice !== undefined) return choice;
  throw new BadRequestError(`argument ${name}="${text}" must be one of ${choices.join(', ')}`);
}

export const switchTexts = ['1', 'true', '0', 'false'] as const;

/** @throws BadRequestError unless the argument is absent or one of 1, true, 0, false */
export function switchArgument(request: RouteRequest, name: string): boolean {
  const choice = choiceArgument(request, name, switchTexts);
  return choice === '1' || choice === 'true';
}
