/** A third-party service that agents can use, as clients identify it. */
export interface Connector {
  /** UUID; the same on every installation. */
  readonly id: string;
  readonly name: string;
}

/**
 * The id of My Browser. Only the scope `use_my_browsers` grants it, never a grant of connectors
 * (spec/oauth.md 2).
 */
export const myBrowserId = "be268223-40b2-4f3c-a907-c12eb1699283";

/** Names by id, sorted by name. Clients hard-code these ids (spec/api.md 13). */
const namesById = {
  "305b3b49-32ce-4b2b-a355-3492fe85d17f": "Ahrefs",
  "d669ca60-22cf-4e16-93d4-845071f9216c": "Airtable",
  "815b5a30-463e-4662-8da7-081e3b5dfc7d": "Anthropic",
  "cf19c9d0-5f91-4e7a-af04-593febb5c80c": "Apify",
  "bb2a05d0-d728-48eb-b796-9b71e4f9c9ee": "Apollo",
  "219459c8-f04d-41af-9a0d-6f9159bf9205": "Asana",
  "74d21d62-2ba7-4840-a918-c8327db5c711": "Atlassian",
  "c63d86db-4c98-483a-af0c-f94721d7f2a5": "Canva",
  "e08b2bda-a4a6-488a-b397-c72f0923bdf4": "ClickUp",
  "9b37aa72-4089-4f25-b774-122860ba61fa": "Close",
  "119e6b13-c2e3-48db-b568-f82191de6b4e": "Cloudflare",
  "80bca437-287e-4407-adf0-1a0b298528e5": "Cloudflare API",
  "bbec86c8-29f6-4149-9bba-d5c66bd6a701": "Cohere",
  "888c4ef0-4ed7-4f8b-ade0-55a86fc531dc": "Dify",
  "2918a878-d84d-47af-94ce-4967b72506f5": "Dropbox",
  "23181678-c628-4c53-9a77-36778a36bbe5": "ElevenLabs",
  "3cb9f78b-b53a-49ef-b65e-b56eeddd641d": "Explorium",
  "abb9ed36-e693-44ab-be3d-1f5c3bb02294": "Firecrawl",
  "1b62b634-58e9-4b49-b327-339cc5aaeaf5": "Fireflies",
  "5c305236-d14e-43f7-93ff-b288afd26f09": "Flux",
  "bbb0df76-66bd-4a24-ae4f-2aac4750d90b": "GitHub",
  "9444d960-ab7e-450f-9cb9-b9467fb0adda": "Gmail",
  "dd5abf31-7ad3-4c0b-9b9a-f0a576645baf": "Google Calendar",
  "f8900a57-4bd7-46cc-83a3-5ebd2420a817": "Google Drive",
  "4157dedf-1326-4be8-9295-51416c7dba62": "Google Gemini",
  "0d21d573-1ee0-484b-8e91-aed6534dbb19": "Granola",
  "491cde51-195c-4e72-96ea-8d80557c3b58": "Grok",
  "c183add9-c22c-4199-b7f2-d885571afa3a": "HeyGen",
  "b389f747-6221-41aa-9dbb-732a97a02ea6": "HubSpot",
  "bdfa81ea-c0ca-4022-bba1-805c48b583c1": "Hugging Face",
  "9777f7bd-4ca3-431a-98d6-a7ed5221dd81": "Instagram Creator Marketplace",
  "73f5f556-978a-4f8a-85b3-ef2eec4473e5": "Intercom",
  "45d392d3-d308-4cdb-8a2d-5d249bcec594": "Jam",
  "c8298c13-6d9a-4847-9f1f-1523952fddbd": "JSONBin.io",
  "99474cab-58bf-47ae-af0e-43c156703be9": "Kling",
  "982c169d-0c89-4dbd-95fd-30b49cc2f71e": "Linear",
  "331ff697-8348-4ed7-a596-7df98740fc1f": "Mailchimp Marketing",
  "f8405590-5602-4fee-bfd6-f221623e6f72": "Make",
  "9fe14dac-4288-4371-91a8-86a36051a865": "Metabase",
  "40ecbda4-5aaf-4e95-bf54-679299ea1c19": "monday.com",
  "be268223-40b2-4f3c-a907-c12eb1699283": "My Browser",
  "d6b4170a-4001-450d-823a-287dfd9716a7": "n8n",
  "9a0c8590-c0d9-498b-9b3d-bd0df0dbc134": "Neon",
  "9c27c684-2f4f-4d33-8fcf-51664ea15c00": "Notion",
  "942ea72c-09f6-46f0-b4b3-f9890a6edbc5": "OpenAI",
  "c55a74cf-a236-4eda-8885-365d336cae4b": "OpenRouter",
  "4bca3029-d276-4644-898d-578a723361b2": "Outlook Calendar",
  "d485c6dd-4939-40fb-9c4a-c9821971468b": "Outlook Mail",
  "e90398ef-c17d-46e8-86d6-0bd98642cbbb": "PayPal for Business",
  "2a574fdc-89ab-4ad7-b334-e2c156201b6f": "Perplexity",
  "356d5bc1-fb9f-4fa1-babb-05039dc09d63": "Playwright",
  "376008de-cd2a-4bfb-93aa-2652b8585c8e": "Polygon.io",
  "89dac2c3-74d0-4f94-86d1-0ee6c4566193": "PostHog",
  "4c55391d-38ea-4a36-a670-a59a1c7680cb": "Prisma Postgres",
  "7f5d51a1-c7b7-442f-a99b-b176cc71a8e8": "Quick Experiments",
  "a104e1ac-73e5-482f-96e6-8b95f4756f27": "RevenueCat",
  "fd15db79-1975-4579-8d0a-cbc72b28fac1": "Sales AI Assistant",
  "838d5e1c-7dd4-4782-9429-c459126707c7": "Sentry",
  "f7f15fe8-15cf-4fb9-a546-720f16dcf5e6": "Serena",
  "700c656f-b4a4-4e39-a886-a20782d99b6f": "Similarweb",
  "001e6a99-5585-4b3e-b8cb-533fe24d7788": "Slack",
  "bc3176ba-efd9-427d-8455-fe64483e8940": "Spend",
  "29986b52-7cbb-4d5e-9263-dd0abacaf28d": "Stripe",
  "fb659ead-d821-40cc-ab35-1cad9af13649": "Stripe API",
  "84ab78ef-139c-48ff-acd4-cba718b8a484": "Supabase",
  "86a04f98-35cf-4099-9044-ab851a473cf5": "Supabase API",
  "f7bbbff0-61fe-458b-975a-3e2f6a91269c": "tl;dv",
  "2900673c-afaa-4dfa-901d-00a6b3f7275e": "Todoist",
  "3db6c7f4-0ce6-4b76-baad-c6e3c4882acd": "Tripo AI",
  "a50c5d31-af5e-4e01-a992-057663a7ee1f": "Vercel",
  "1d489fb9-0601-4ea7-9942-b866657178c1": "Webflow",
  "d0fa4acf-7cf6-4402-bd84-82a850342a79": "Wix",
  "7c635638-0b9f-40f4-b5c8-6f2762416d79": "Xero",
  "433d2fe0-e56d-42b2-8625-9996eab0bb1d": "Zapier",
  "d1edd2c7-392f-4132-bcf7-7f86efe1db54": "ZoomInfo",
} as const;

/** All connectors of the catalogue, sorted by name (spec/decisions.md 33). */
export const connectors: readonly Connector[] = Object.entries(namesById).map(([id, name]) => ({ id, name }));

/** The connector with this id; undefined if the catalogue has none. */
export const connectorById = (id: string): Connector | undefined =>
  connectors.find((connector) => connector.id === id);
