/** The largest page of users, and the page size when a request has no count. */
export const pageMax = 200;
export const pageDefault = 100;

const userSchema = "urn:ietf:params:scim:schemas:core:2.0:User";
const groupSchema = "urn:ietf:params:scim:schemas:core:2.0:Group";

interface Facts {
  readonly [fact: string]: string | boolean | object;
}

const attribute = (name: string, description: string, facts: Facts = {}): Facts => ({
  name,
  type: "string",
  multiValued: false,
  description,
  required: false,
  caseExact: false,
  mutability: "readWrite",
  returned: "default",
  uniqueness: "none",
  ...facts,
});

const nameParts = [
  attribute("formatted", "The whole name."),
  attribute("givenName", "The first word of the name."),
  attribute("familyName", "The other words of the name."),
];

const emailParts = [
  attribute("value", "The address: userName's.", { mutability: "readOnly" }),
  attribute("type", "Always work.", { mutability: "readOnly" }),
  attribute("primary", "Always true.", { type: "boolean", mutability: "readOnly" }),
];

const roleParts = [
  attribute("value", "owner, super_admin, admin, member or guest; the first two cannot be granted."),
  attribute("primary", "Always true.", { type: "boolean" }),
];

const attributes = [
  attribute("userName", "The member's address in the team.", { required: true, uniqueness: "server" }),
  attribute("externalId", "What the identity provider calls the person.", {
    caseExact: true,
    uniqueness: "server",
  }),
  attribute("displayName", "The member's name in the team."),
  attribute("name", "The same name, in parts.", { type: "complex", subAttributes: nameParts }),
  attribute("active", "Whether the member may use the team.", { type: "boolean" }),
  attribute("emails", "The address once more.", {
    type: "complex",
    multiValued: true,
    mutability: "readOnly",
    subAttributes: emailParts,
  }),
  attribute("roles", "The member's one role in the team.", {
    type: "complex",
    multiValued: true,
    subAttributes: roleParts,
  }),
];

const memberParts = [
  attribute("value", "The id of a user.", { mutability: "immutable" }),
  attribute("display", "The user's name, or else the address.", { mutability: "readOnly" }),
  attribute("type", "Always User.", { mutability: "immutable" }),
  attribute("$ref", "The URL of the user.", {
    type: "reference",
    referenceTypes: ["User"],
    mutability: "readOnly",
  }),
];

const groupAttributes = [
  attribute("displayName", "The group's name.", { required: true, uniqueness: "server" }),
  attribute("externalId", "What the identity provider calls the group.", {
    caseExact: true,
    uniqueness: "server",
  }),
  attribute("members", "The users in the group.", {
    type: "complex",
    multiValued: true,
    subAttributes: memberParts,
  }),
];

const yes = { supported: true };
const no = { supported: false };

const provider: Facts = {
  schemas: ["urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"],
  patch: yes,
  bulk: { ...no, maxOperations: 0, maxPayloadSize: 0 },
  filter: { ...yes, maxResults: pageMax },
  changePassword: no,
  sort: no,
  etag: yes,
  authenticationSchemes: [
    {
      type: "oauthbearertoken",
      name: "Team User Management key",
      description: "An API key of the kind team_user_mgmt, as Authorization: Bearer.",
      primary: true,
    },
  ],
};

const userType: Facts = {
  schemas: ["urn:ietf:params:scim:schemas:core:2.0:ResourceType"],
  id: "User",
  name: "User",
  endpoint: "/Users",
  description: "A member of the team.",
  schema: userSchema,
};

const groupType: Facts = {
  schemas: ["urn:ietf:params:scim:schemas:core:2.0:ResourceType"],
  id: "Group",
  name: "Group",
  endpoint: "/Groups",
  description: "A group of users.",
  schema: groupSchema,
};

const schemaOf = (id: string, name: string, description: string, described: readonly Facts[]): Facts => ({
  schemas: ["urn:ietf:params:scim:schemas:core:2.0:Schema"],
  id,
  name,
  description,
  attributes: described,
});

const types: readonly (readonly [path: string, document: Facts])[] = [
  ["/ResourceTypes/User", userType],
  ["/ResourceTypes/Group", groupType],
];

const schemas: readonly (readonly [path: string, document: Facts])[] = [
  [`/Schemas/${userSchema}`, schemaOf(userSchema, "User", "A member of the team.", attributes)],
  [`/Schemas/${groupSchema}`, schemaOf(groupSchema, "Group", "A group of users.", groupAttributes)],
];

/** A page of resources (RFC 7644 3.4.2). */
export const listOf = (resources: readonly object[], totalResults: number, startIndex = 1): object => ({
  schemas: ["urn:ietf:params:scim:api:messages:2.0:ListResponse"],
  totalResults,
  startIndex,
  itemsPerPage: resources.length,
  Resources: resources,
});

/**
 * The discovery documents by path (RFC 7644 4, RFC 7643 5 to 7).
 *
 * @param base the URL of SCIM.
 */
export function documents(base: string): ReadonlyMap<string, object> {
  const withMeta = (document: Facts, resourceType: string, path: string) => ({
    ...document,
    meta: { resourceType, location: `${base}${path}` },
  });
  const described = (all: typeof types, resourceType: string) =>
    all.map(([path, document]) => [path, withMeta(document, resourceType, path)] as const);
  const [typeDocuments, schemaDocuments] = [described(types, "ResourceType"), described(schemas, "Schema")];
  const listOfAll = (all: typeof typeDocuments): object =>
    listOf(
      all.map(([, document]) => document),
      all.length,
    );
  return new Map<string, object>([
    ["/ServiceProviderConfig", withMeta(provider, "ServiceProviderConfig", "/ServiceProviderConfig")],
    ["/ResourceTypes", listOfAll(typeDocuments)],
    ...typeDocuments,
    ["/Schemas", listOfAll(schemaDocuments)],
    ...schemaDocuments,
  ]);
}
