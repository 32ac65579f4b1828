/** The values of the agent as items of ligato's generic services. */
import type { Clock } from '#infra/clock/clock.ts';
import { Slices } from '#infra/clock/slices.ts';
import type { Scheduler } from '#kvscheduler/scheduler.ts';
import type { ConfigItem, Item, ItemID, StateItem } from '#models/generic/generic.gen.ts';
import type { DeepInput } from '#models/model.ts';
import { type ConfigModel, configModels } from '#models/registry.ts';
import { modelName } from './model-details.ts';

/** As ligato identifies the types of its models. */
const TYPE_URL = 'models.ligato.io/';

export interface ItemSelector {
  /** Empty: all. */
  readonly ids: readonly ItemID[];
  /** Items have no labels, so a label that an item must have selects none. */
  readonly labels?: Readonly<Record<string, string>>;
}

interface KeyedItem {
  readonly key: string;
  readonly item: DeepInput<Item>;
}

/** The desired values and their states. */
export async function configItems(
  scheduler: Scheduler,
  selector: ItemSelector,
  clock: Clock,
): Promise<readonly DeepInput<ConfigItem>[]> {
  const items = await itemsOf(scheduler, 'NB', selector, clock);
  return items.map(({ key, item }) => {
    const { state, error, details } = scheduler.status(key).value;
    return {
      item,
      status: { status: state, message: details?.join(', ') ?? error ?? '' },
    };
  });
}

/** The actual values, as the scheduler knows them. */
export async function stateItems(
  scheduler: Scheduler,
  selector: ItemSelector,
  clock: Clock,
): Promise<readonly DeepInput<StateItem>[]> {
  const items = await itemsOf(scheduler, 'cached', selector, clock);
  return items.map(({ item }) => ({ item }));
}

async function itemsOf(
  scheduler: Scheduler,
  view: 'NB' | 'cached',
  { ids, labels = {} }: ItemSelector,
  clock: Clock,
): Promise<KeyedItem[]> {
  // with the mark, an item must not have it
  if (Object.keys(labels).some((label) => !label.startsWith('!'))) return [];
  const slices = new Slices(clock);
  const items: KeyedItem[] = [];
  const wanted = new Set(ids.map(({ model, name }) => `${model} ${name}`));
  for (const model of configModels) {
    const { keyPrefix } = model;
    const isConfigured = scheduler.descriptors.some(({ nbKeyPrefix }) => nbKeyPrefix === keyPrefix);
    if (!isConfigured) continue;
    for (const { Key, Value } of await scheduler.dump(view, { keyPrefix })) {
      if (slices.due()) await slices.turn();
      const id = { model: modelName(model), name: Key.slice(keyPrefix.length) };
      if (wanted.size > 0 && !wanted.has(`${id.model} ${id.name}`)) continue;
      items.push({ key: Key, item: { id, data: { any: packed(model, Value.value) } } });
    }
  }
  return items;
}

function packed(model: ConfigModel, value: object) {
  return {
    type_url: TYPE_URL + model.typeName,
    value: Buffer.from(model.encodeWire(value)).toString('base64'),
  };
}
