import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The taxonomy, which skills tools have and how sure that is, classification as a queue of rows, and
 * suggestions of new skills for review. `tools.skill_ids` repeats the assignments for readers.
 */
export class Skills1763470100000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE mcp.skill_categories (
        id varchar(64) PRIMARY KEY,
        name varchar(255) NOT NULL UNIQUE,
        description text NOT NULL,
        prototypes text[] NOT NULL DEFAULT '{}',
        is_active boolean NOT NULL DEFAULT true,
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now()
      )`);
    await runner.query(`
      CREATE TABLE mcp.tool_skill_assignments (
        tool_id integer NOT NULL REFERENCES mcp.tools (id) ON DELETE CASCADE,
        skill_id varchar(64) NOT NULL REFERENCES mcp.skill_categories (id) ON DELETE CASCADE,
        confidence real NOT NULL CHECK (confidence BETWEEN 0 AND 1),
        is_primary boolean NOT NULL,
        PRIMARY KEY (tool_id, skill_id)
      )`);
    await runner.query(`
      CREATE INDEX idx_tool_skill_assignments_skill ON mcp.tool_skill_assignments (skill_id)`);
    await runner.query(`
      CREATE TABLE mcp.tool_classifications (
        tool_id integer PRIMARY KEY REFERENCES mcp.tools (id) ON DELETE CASCADE,
        state varchar(16) NOT NULL DEFAULT 'DISCOVERED'
          CHECK (state IN ('DISCOVERED', 'CLASSIFYING', 'CLASSIFIED', 'UNCLASSIFIED')),
        content_hash varchar(64) NOT NULL,
        classified_by varchar(255),
        is_override boolean NOT NULL DEFAULT false,
        attempts integer NOT NULL DEFAULT 0,
        due_at timestamptz DEFAULT now(),
        last_error text,
        updated_at timestamptz NOT NULL DEFAULT now()
      )`);
    await runner.query(`
      CREATE INDEX idx_tool_classifications_due ON mcp.tool_classifications (due_at)
      WHERE due_at IS NOT NULL`);
    await runner.query(`
      CREATE TABLE mcp.skill_suggestions (
        id serial PRIMARY KEY,
        name varchar(255) NOT NULL UNIQUE,
        description text NOT NULL,
        tool_ids integer[] NOT NULL DEFAULT '{}',
        suggested_by varchar(255) NOT NULL,
        status varchar(16) NOT NULL DEFAULT 'PENDING'
          CHECK (status IN ('PENDING', 'APPROVED', 'REJECTED')),
        created_at timestamptz NOT NULL DEFAULT now(),
        reviewed_at timestamptz,
        reviewed_by varchar(255)
      )`);
    for (const { id, name, prototypes } of seedSkills) {
      await runner.query(
        `INSERT INTO mcp.skill_categories (id, name, description, prototypes)
         VALUES ($1, $2, $3, $4)`,
        [id, name, prototypes.join('; '), prototypes],
      );
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE mcp.skill_suggestions`);
    await runner.query(`DROP TABLE mcp.tool_classifications`);
    await runner.query(`DROP TABLE mcp.tool_skill_assignments`);
    await runner.query(`DROP TABLE mcp.skill_categories`);
  }
}

/** The taxonomy of a new installation; afterwards it is data that people change. */
export const seedSkills: readonly { id: string; name: string; prototypes: readonly string[] }[] = [
  {
    id: 'files',
    name: 'Files & storage',
    prototypes: [
      'read, write, list, move and search files and directories on the local filesystem',
      'cloud storage buckets, upload and download files, object storage, file sharing',
    ],
  },
  {
    id: 'databases',
    name: 'Databases & SQL',
    prototypes: [
      'run SQL queries, inspect tables and schemas in a relational database such as PostgreSQL, MySQL or SQLite',
      'NoSQL, key-value, graph or vector database, insert and query records',
    ],
  },
  {
    id: 'code_dev',
    name: 'Code & developer tools',
    prototypes: [
      'developer tools: package versions, library documentation, linting, build, debugging, code analysis and UI components',
      'execute code in a sandbox, run terminal commands, coding agent',
    ],
  },
  {
    id: 'version_control',
    name: 'Version control & repos',
    prototypes: [
      'git repositories: commits, branches, diffs, pull requests and issues on GitHub or GitLab',
    ],
  },
  {
    id: 'cloud_devops',
    name: 'Cloud, DevOps & containers',
    prototypes: [
      'manage cloud infrastructure: AWS, Azure, Google Cloud, Kubernetes, Docker containers, deployments, serverless, DNS and networking',
    ],
  },
  {
    id: 'monitoring',
    name: 'Monitoring & observability',
    prototypes: [
      'monitoring, metrics, logs, traces, alerts, uptime and error tracking for applications',
    ],
  },
  {
    id: 'security',
    name: 'Security & identity',
    prototypes: [
      'security scanning, vulnerabilities, malware, threat intelligence, penetration testing, encryption, hashing, passwords, authentication and identity',
    ],
  },
  {
    id: 'web_search',
    name: 'Web search & scraping',
    prototypes: [
      'search the web with a search engine and return results',
      'scrape, crawl, fetch and extract content from web pages and URLs',
    ],
  },
  {
    id: 'browser_os',
    name: 'Browser & desktop automation',
    prototypes: [
      'browser automation: navigate, click, fill forms and take screenshots with Playwright or Puppeteer',
      'control the desktop, mouse, keyboard and applications of the operating system',
    ],
  },
  {
    id: 'communication',
    name: 'Email & messaging',
    prototypes: [
      'send and read email, SMS, chat messages, Slack, Discord, Telegram, WhatsApp and phone calls',
      'contacts and phone number validation',
    ],
  },
  {
    id: 'productivity',
    name: 'Calendar, tasks & projects',
    prototypes: [
      'calendar events, meetings, tasks, to-do lists, project management, Jira, Notion, workplace and team productivity',
      'current time, time zones, reminders and scheduling, jobs and human resources',
    ],
  },
  {
    id: 'documents',
    name: 'Documents & office',
    prototypes: [
      'create, read, edit and convert documents: PDF, Word, Excel spreadsheets, PowerPoint presentations',
      'text files, templates, markdown and document formatting',
    ],
  },
  {
    id: 'knowledge',
    name: 'Knowledge, memory & RAG',
    prototypes: [
      'persistent memory and knowledge graph for AI agents, notes, store and recall information',
      'retrieval augmented generation over a knowledge base, wiki or vector store',
    ],
  },
  {
    id: 'data_viz',
    name: 'Data analysis & visualization',
    prototypes: [
      'analyze datasets, statistics, data science, dashboards and analytics',
      'generate charts, graphs, diagrams and plots from data',
      'math calculator, random numbers and unit conversion',
    ],
  },
  {
    id: 'ai_ml',
    name: 'AI models & ML',
    prototypes: [
      'call AI models, LLM chat completions, machine learning training and inference, image recognition, embeddings, agent reasoning',
    ],
  },
  {
    id: 'finance',
    name: 'Finance, markets & crypto',
    prototypes: [
      'stock prices, market data, company financials, investments, banking and currency exchange rates',
      'cryptocurrency prices, blockchain, wallets, tokens, DeFi and trading',
    ],
  },
  {
    id: 'commerce',
    name: 'E-commerce, payments & food',
    prototypes: [
      'online shopping, products, prices, orders, carts, inventory and stores',
      'payments, invoices, subscriptions, shipping and package tracking',
      'food, restaurants, recipes, cooking and grocery',
    ],
  },
  {
    id: 'crm_marketing',
    name: 'Marketing, sales & support',
    prototypes: [
      'CRM, sales leads, customers, marketing campaigns, advertising, SEO and web analytics',
      'customer support tickets, help desk, service management, business and company information',
    ],
  },
  {
    id: 'media',
    name: 'Images, audio, video & design',
    prototypes: [
      'generate and edit images, photos, icons, graphic design, art and museums',
      'video and audio processing, transcripts, YouTube, podcasts',
    ],
  },
  {
    id: 'maps_travel',
    name: 'Maps, travel & transport',
    prototypes: [
      'maps, geocoding, directions, places, IP geolocation and addresses',
      'flights, hotels, trains, trips, public transport, vehicles and cars',
    ],
  },
  {
    id: 'weather_env',
    name: 'Weather & environment',
    prototypes: [
      'weather forecast and current conditions, temperature, air quality, climate, environment, energy and animals',
    ],
  },
  {
    id: 'health_bio',
    name: 'Health, medicine & biology',
    prototypes: [
      'medical, health, clinical trials, drugs, diseases, genes, proteins, biology and bioinformatics',
      'fitness, exercise, nutrition and wellness',
    ],
  },
  {
    id: 'education_research',
    name: 'Research, science & education',
    prototypes: [
      'academic papers, arXiv, scientific research, citations, space and physics',
      'education, courses, learning, dictionaries, books, quizzes and trivia',
    ],
  },
  {
    id: 'games_sports',
    name: 'Games, sports & entertainment',
    prototypes: [
      'video games, game engines, players, cards and chess',
      'sports scores, teams, leagues, matches and standings',
      'movies, TV shows, anime, music, songs, jokes, horoscope and entertainment',
    ],
  },
  {
    id: 'social_news',
    name: 'Social media & news',
    prototypes: [
      'social media posts, followers, Twitter, Instagram, TikTok, Reddit, Facebook and LinkedIn',
      'news articles, headlines and trending topics',
    ],
  },
  {
    id: 'iot_hardware',
    name: 'IoT, home & hardware',
    prototypes: [
      'smart home devices, Home Assistant, lights, sensors, robots, embedded systems, industrial IoT and hardware',
    ],
  },
  {
    id: 'legal_gov',
    name: 'Legal, government & open data',
    prototypes: [
      'laws, legal documents, courts, contracts, compliance, patents, government, elections, census and open public data',
    ],
  },
  {
    id: 'language',
    name: 'Translation, text & speech',
    prototypes: [
      'translate text between languages, detect language, spelling and grammar',
      'speech to text, text to speech, voice',
      'text analysis, sentiment, summarization and keyword extraction',
    ],
  },
];
