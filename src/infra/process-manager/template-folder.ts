import { readdirSync, readFileSync, statSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText } from '../errors/errors.ts';
import { createFolder } from '../files/folder.ts';
import type { Logger } from '../log/log.ts';
import {
  checkTemplateName,
  type ProcessTemplate,
  ProcessTemplateError,
  parseTemplate,
} from './template.ts';

const EXTENSION = '.json';
/** Arguments may contain credentials, and who can write here can run programs as this user. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
const WRITABLE_BY_ALL = 0o002;

/** The folder `template-path`. */
export class TemplateFolder {
  readonly #path: string;
  readonly #log: Logger;

  constructor(path: string, log: Logger) {
    this.#path = path;
    this.#log = log;
  }

  /** All templates, by name. Files that cannot be used are logged. */
  read(): Map<string, ProcessTemplate> {
    const templates = new Map<string, ProcessTemplate>();
    for (const file of this.#files()) {
      try {
        const template = readTemplate(file);
        if (templates.has(template.name))
          throw new ProcessTemplateError(`another file has the template ${template.name}, too`, {
            where: file,
          });
        templates.set(template.name, template);
      } catch (error) {
        this.#log.error({ file, err: error }, 'ignoring process template');
      }
    }
    return templates;
  }

  /**
   * After a crash the file has its old or its new content.
   * @throws ProcessTemplateError
   */
  async write(template: ProcessTemplate): Promise<void> {
    checkTemplateName(template.name);
    const path = join(this.#path, `${template.name}${EXTENSION}`);
    const temporary = `${path}.new`;
    try {
      createFolder(this.#path, FOLDER_MODE);
      await rm(temporary, { force: true });
      const file = await open(temporary, 'wx', FILE_MODE);
      try {
        await file.writeFile(`${JSON.stringify(template, undefined, 2)}\n`);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(temporary, path);
    } catch (cause) {
      await rm(temporary, { force: true }).catch(() => undefined);
      throw new ProcessTemplateError(`cannot write the template: ${errorText(cause)}`, {
        where: path,
        cause,
      });
    }
  }

  #files(): string[] {
    try {
      return readdirSync(this.#path)
        .filter((name) => name.endsWith(EXTENSION))
        .sort()
        .map((name) => join(this.#path, name));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        this.#log.error({ folder: this.#path, err: error }, 'cannot read process templates');
      return [];
    }
  }
}

/** @throws ProcessTemplateError, ProcessOptionError, errors of the file system */
function readTemplate(file: string): ProcessTemplate {
  const { mode, uid } = statSync(file);
  if ((mode & WRITABLE_BY_ALL) !== 0)
    throw new ProcessTemplateError('every user may write the template', { where: file });
  // The folder may be one that every user may write.
  if (uid !== 0 && uid !== process.geteuid?.())
    throw new ProcessTemplateError('another user owns the template', { where: file });
  return parseTemplate(readFileSync(file, 'utf8'), file);
}
