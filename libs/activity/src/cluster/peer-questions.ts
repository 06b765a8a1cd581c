import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Peer,
  PeerRequests,
  Peers,
  textOf,
} from '@app/platform';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

const PATH = '/mcp/replicas/ask/';
/** A replica that does not answer is left out. */
const ANSWER_WITHIN_MS = 1_500;
const MAX_ANSWER_BYTES = 8_388_608;
const MAX_QUESTION_BYTES = 65_536;
/** The client was admitted by the replica that asks. */
const SYSTEM_PRINCIPAL = { name: 'system', scopes: ['admin' as const], subjects: [] };

export type PeerAnswer = (question: JsonObject) => JsonValue | Promise<JsonValue>;

export interface PeerAnswers {
  readonly answers: readonly JsonValue[];
  /** Replicas that did not answer in time. */
  readonly missing: number;
}

/** Questions of one replica to all others about what only their processes know. */
@Injectable()
export class PeerQuestions implements OnModuleInit {
  private readonly logger = new Logger('activity');
  private readonly answering = new Map<string, PeerAnswer>();

  constructor(
    private readonly http: HttpAdapterHost,
    private readonly peers: Peers,
    private readonly requests: PeerRequests,
  ) {}

  onModuleInit(): void {
    if (!this.peers.isClustered) return;
    const fastify: FastifyInstance = this.http.httpAdapter.getInstance();
    const config = { access: 'read', bodyLimit: MAX_QUESTION_BYTES } as const;
    fastify.post<{ Params: { name: string } }>(`${PATH}:name`, { config }, (request, reply) =>
      this.answer(request, reply),
    );
  }

  /** How this replica answers one question, which must not be passed on. */
  answerWith(name: string, answer: PeerAnswer): void {
    this.answering.set(name, answer);
  }

  /** Never rejects. The answers are input: their schema is checked by the caller. */
  async ask(name: string, question: JsonObject): Promise<PeerAnswers> {
    const asked = this.peers.others;
    const answers = await Promise.all(
      asked.map((peer) =>
        this.askOne(peer, name, question).catch((error: unknown) => {
          this.logger.warn({ err: error, replica: peer.id, question: name }, 'replica.not_asked');
          return undefined;
        }),
      ),
    );
    const given = answers.filter((answer) => answer !== undefined);
    return { answers: given, missing: asked.length - given.length };
  }

  private async askOne(peer: Peer, name: string, question: JsonObject): Promise<JsonValue> {
    const answer = await this.requests.send(peer, {
      method: 'POST',
      path: PATH + name,
      principal: SYSTEM_PRINCIPAL,
      body: JSON.stringify(question),
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    const text = await textOf(answer, MAX_ANSWER_BYTES);
    if (answer.statusCode !== 200) throw new Error(`it answered ${answer.statusCode ?? 0}`);
    return JSON.parse(text) as JsonValue;
  }

  private async answer(
    request: FastifyRequest<{ Params: { name: string } }>,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    const answer = request.passedBy && this.answering.get(request.params.name);
    if (!answer || !isJsonObject(request.body)) {
      return reply.status(404).send({ detail: 'Not found', error_code: 'NOT_FOUND' });
    }
    return reply.send(await answer(request.body));
  }
}
