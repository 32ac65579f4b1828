import { type Static, Type } from 'typebox';

/** `plugins.conf`. */
export const pluginsSchema = Type.Object({
  modules: Type.Array(
    Type.Object({
      path: Type.String({
        default: '',
        description:
          'File of a JavaScript module whose default export makes event handlers (docs/plugins.md).',
      }),
      options: Type.Record(Type.String(), Type.Unknown(), {
        default: {},
        isSecret: true,
        description:
          'What the module gets as `options`. It is in recordings: secrets belong into files.',
      }),
    }),
    {
      default: [],
      description:
        'Plugins beside those of the agent; they handle each event after these, in the order of the list.',
    },
  ),
});
export type PluginsConfig = Static<typeof pluginsSchema>;
