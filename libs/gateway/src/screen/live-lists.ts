import { Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { pinHashOf } from '@app/approvals';
import { Catalogue } from '@app/catalogue';
import { definitionProblem, DiscoverTools, readTools } from '@app/discovery';
import type { UpstreamSession } from '@app/mcp-client';
import {
  atOnce,
  inSlices,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Sliced,
} from '@app/platform';
import { SessionPool } from '@app/sessions';
import type { OfferedKind } from '../lists/offered-list.js';
import { Offerings } from '../lists/offerings.js';
import { repairedPrompt } from '../lists/read-offered.js';

/** Hashes of definitions that were looked at, for each session; beyond this, all are looked at again. */
const MAX_SEEN = 10_000;
/** Of definitions that cannot be hashed: they are too deep or have characters that JSON does not allow. */
const UNREADABLE = 'unreadable';

type Kind = Extract<OfferedKind, 'prompts'> | 'tools';

interface Judged {
  readonly item: JsonValue;
  /** Undefined for what is shown as it is listed. */
  readonly hash: string | undefined;
  /** What is offered under its name. */
  readonly approved: JsonObject | undefined;
}

/** What is offered under a name, and whether an item says the same. */
interface Approved {
  readonly definition: JsonObject;
  readonly isSame: (item: JsonObject) => boolean;
}

/**
 * Lists as a server sends them at its own address, compared with what is offered (contract R57). A server may send other
 * definitions than those that were read last, without any notification.
 */
@Injectable()
export class LiveLists {
  private readonly seen = new WeakMap<UpstreamSession, Set<string>>();

  constructor(
    private readonly commands: CommandBus,
    private readonly catalogue: Catalogue,
    private readonly sessions: SessionPool,
    private readonly offerings: Offerings,
  ) {}

  /**
   * The items that may be shown, as they are listed or else as they were approved. What differs from the rows is read
   * and decided on first. What has no place in the rows, such as a definition that most clients would refuse, is shown
   * unless something of the server is withheld.
   */
  async shown(
    serverId: string,
    kind: Kind,
    items: readonly JsonValue[],
    isWhole: () => boolean,
  ): Promise<readonly JsonValue[]> {
    const session = this.sessions.get(serverId);
    const seen = this.seenIn(session);
    let judged = await inSlices(this.judge(serverId, kind, items));
    const unseen = judged.flatMap(({ hash }) =>
      hash === undefined || seen.has(hash) ? [] : [hash],
    );
    if (unseen.length > 0) {
      if (kind === 'tools') await this.commands.execute(new DiscoverTools(serverId));
      else await this.offerings.refresh(serverId, [kind]);
      // Otherwise they could not be read, and are read the next time.
      if (this.isRead(serverId, kind)) for (const hash of unseen) seen.add(hash);
      judged = await inSlices(this.judge(serverId, kind, items));
    }
    const isAllShown = isWhole();
    return judged.flatMap(({ item, hash, approved }) => {
      if (hash === undefined) return [item];
      if (approved) return [approved];
      return isAllShown && seen.has(hash) ? [item] : [];
    });
  }

  private seenIn(session: UpstreamSession | undefined): Set<string> {
    let seen = session && this.seen.get(session);
    if (!seen || seen.size > MAX_SEEN) seen = new Set();
    if (session) this.seen.set(session, seen);
    return seen;
  }

  private isRead(serverId: string, kind: Kind): boolean {
    const server = this.catalogue.current.servers.get(serverId);
    return server?.status === 'CONNECTED' && server.listFailures[kind] === undefined;
  }

  private *judge(
    serverId: string,
    kind: Kind,
    items: readonly JsonValue[],
  ): Sliced<readonly Judged[]> {
    const approvedAs =
      kind === 'tools' ? this.approvedTools(serverId) : this.approvedPrompts(serverId);
    const judged: Judged[] = [];
    for (const item of items) {
      yield;
      if (!isJsonObject(item) || definitionProblem(item) !== undefined) {
        judged.push({ item, hash: UNREADABLE, approved: undefined });
        continue;
      }
      const { name } = item;
      const approved = typeof name === 'string' ? approvedAs(name) : undefined;
      judged.push(
        approved?.isSame(item)
          ? { item, hash: undefined, approved: undefined }
          : { item, hash: pinHashOf(item), approved: approved?.definition },
      );
    }
    return judged;
  }

  private approvedTools(serverId: string): (name: string) => Approved | undefined {
    const tools = this.catalogue.current.toolsByServer.get(serverId) ?? [];
    const byName = new Map(tools.map((tool) => [tool.originalName, tool]));
    return (name) => {
      const tool = byName.get(name);
      if (!tool) return undefined;
      const { definition, contentHash } = tool;
      const isSame = (item: JsonObject): boolean =>
        isSamePin(item, definition) || contentHashOf(item) === contentHash;
      return { definition, isSame };
    };
  }

  private approvedPrompts(serverId: string): (name: string) => Approved | undefined {
    const prompts = this.offerings.promptsOf(serverId);
    return (name) => {
      const json = prompts?.find(name)?.json;
      if (json === undefined) return undefined;
      const definition: unknown = JSON.parse(json);
      if (!isJsonObject(definition)) return undefined;
      const isSame = (item: JsonObject): boolean =>
        isSamePin(item, definition) || repairedPrompt(item) === json;
      return { definition, isSame };
    };
  }
}

/** The texts are compared first, because hashing costs more. */
function isSamePin(item: JsonObject, definition: JsonObject): boolean {
  return (
    JSON.stringify(item) === JSON.stringify(definition) || pinHashOf(item) === pinHashOf(definition)
  );
}

/** As discovery computes it, of the repaired definition. */
function contentHashOf(item: JsonObject): string | undefined {
  const [tool] = atOnce(readTools([item])).tools;
  return tool && !tool.wasCleaned ? tool.contentHash : undefined;
}
