/* The communicators of NCCL: for a stage, for parts of it, and for links to
 * other stages. */
#include "config.h"

#include "runtime/cuda/nccl_parts.h"

#include <string.h>

#define CALL NCCL_OF

/* Notes a group.  All processes ask for the same groups in the same order. */
void groups_note(nccl *l, uint32_t axes)
{
	for (int i = 0; i < l->groups.n; i++)
		if (l->groups.at[i].axes == axes)
			return;
	vec_push(l->a, &l->groups, ((group){ .axes = axes }));
}

static bool is_on(const nccl *l, const stage_link *x)
{
	return x->from == l->s->stage || x->to == l->s->stage;
}

/* Shares a number that the first worker of a stage draws.  All processes ask
 * for the same numbers in the same order. */
static bool share_id(nccl *l, const communicator *comm, void *link, int stage,
		     ncclUniqueId *id, failure *f)
{
	memset(id, 0, sizeof(*id));
	if (l->worker == 0 && l->s->stage == stage &&
	    !CALL(l, f, ncclGetUniqueId, id))
		return false;
	comm->share(link, pipeline_first(l->c->p, stage), id, sizeof(*id));
	return true;
}

/* Joins the stage's communicators.  Those split off share its buffers. */
static bool join_all(nccl *l, const communicator *comm, void *link, failure *f)
{
	ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
	ncclUniqueId id, own;
	config.splitShare = 1;
	memset(&own, 0, sizeof(own));
	for (int s = 0; s < l->c->p->nstages; s++) {
		if (!share_id(l, comm, link, s, &id, f))
			return false;
		if (s == l->s->stage)
			own = id;
	}
	return CALL(l, f, ncclCommInitRankConfig, &l->groups.at[0].comm,
		    mesh_workers(&l->p->mesh), own, l->worker, &config);
}

/* Joins a link; senders come first. */
static bool join_link(nccl *l, link_group *g, ncclUniqueId id, failure *f)
{
	const plan_pipeline *p = l->c->p;
	ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
	int senders = mesh_workers(&p->stages[g->from].mesh);
	int receivers = mesh_workers(&p->stages[g->to].mesh);
	int rank = l->worker + (g->to == l->s->stage ? senders : 0);
	return CALL(l, f, ncclCommInitRankConfig, &g->comm,
		    senders + receivers, id, rank, &config);
}

/* Joins the links of each stage in the order of all links. */
static bool join_links(nccl *l, const communicator *comm, void *link,
		       failure *f)
{
	const message_order *o = &l->c->order;
	arena *work = arena_new();
	ncclUniqueId *ids = ARENA_ARRAY(work, ncclUniqueId, o->nlinks);
	bool good = true;
	for (int i = 0; good && i < o->nlinks; i++)
		good = share_id(l, comm, link, o->links[i].from, &ids[i], f);
	for (int i = 0; good && i < o->nlinks; i++)
		if (is_on(l, &o->links[i]))
			good = join_link(l, &l->links[i], ids[i], f);
	arena_free(work);
	return good;
}

static bool join_group(nccl *l, group *g, failure *f)
{
	const mesh *m = &l->p->mesh;
	return CALL(l, f, ncclCommSplit, l->groups.at[0].comm,
		    mesh_number_on(m, ~g->axes, l->worker),
		    mesh_number_on(m, g->axes, l->worker), &g->comm, NULL);
}

static int count_links(const nccl *l)
{
	int n = 0;
	for (int i = 0; i < l->c->order.nlinks; i++)
		n += is_on(l, &l->c->order.links[i]);
	return n;
}

/* Whether there is room for NCCL's buffers.  They are allocated with the first
 * collective in a step. */
static bool has_room(const nccl *l, failure *f)
{
	enum { ALL = 1 << 30, GROUP = 256 << 20 };
	double nbytes = ALL + (double)GROUP *
				      (l->groups.n - 1 + count_links(l));
	return cuda_has_room(l->c, 0, nbytes, "NCCL may need", f);
}

/* Registers all memory that calls on a communicator use: the arena and staging
 * memory. */
static bool register_memory(nccl *l, ncclComm_t comm, CUdeviceptr staging,
			    int64_t nbytes, failure *f)
{
	return nccl_register(&l->api, l->a, &l->registered, comm,
			     l->c->arenas[0], l->p->arena_bytes, f) &&
	       nccl_register(&l->api, l->a, &l->registered, comm, staging,
			     nbytes, f);
}

static bool register_all(nccl *l, failure *f)
{
	for (int i = 0; i < l->groups.n; i++) {
		ncclComm_t comm = l->groups.at[i].comm;
		if (!register_memory(l, comm, l->outbox, l->outbox_bytes, f) ||
		    !nccl_register(&l->api, l->a, &l->registered, comm,
				   l->inbox, l->inbox_bytes, f))
			return false;
	}
	for (int i = 0; i < l->c->order.nlinks; i++) {
		const link_group *g = &l->links[i];
		if (g->comm &&
		    !register_memory(l, g->comm, g->staging, g->nbytes, f))
			return false;
	}
	return true;
}

bool groups_join(nccl *l, const communicator *comm, void *link, failure *f)
{
	if (!has_room(l, f) || !join_all(l, comm, link, f))
		return false;
	for (int i = 1; i < l->groups.n; i++)
		if (!join_group(l, &l->groups.at[i], f))
			return false;
	return join_links(l, comm, link, f) && register_all(l, f);
}

ncclComm_t groups_of(const nccl *l, const exchange *x)
{
	for (int i = 1; i < l->groups.n; i++)
		if (l->groups.at[i].axes == x->axes)
			return l->groups.at[i].comm;
	return l->groups.at[0].comm;
}

ncclComm_t *groups_all(const nccl *l, arena *a, int *n)
{
	int most = l->groups.n + l->c->order.nlinks;
	ncclComm_t *all = ARENA_ARRAY(a, ncclComm_t, most);
	*n = 0;
	for (int i = l->c->order.nlinks - 1; l->links && i >= 0; i--)
		if (l->links[i].comm)
			all[(*n)++] = l->links[i].comm;
	for (int i = l->groups.n - 1; i >= 0; i--)
		if (l->groups.at[i].comm)
			all[(*n)++] = l->groups.at[i].comm;
	return all;
}

static void forget_comms(nccl *l)
{
	for (int i = 0; l->links && i < l->c->order.nlinks; i++)
		l->links[i].comm = NULL;
	l->groups.n = 0;
}

/* Leaves the communicators.  All ranks of one have to leave it at the same
 * time, so processes leave the links in one order, and then those of their
 * stage. */
void groups_leave(nccl *l)
{
	arena *work = arena_new();
	int n;
	const ncclComm_t *all = groups_all(l, work, &n);
	nccl_deregister(&l->api, &l->registered);
	for (int i = 0; i < n; i++)
		l->api.ncclCommDestroy(all[i]);
	forget_comms(l);
	arena_free(work);
}

/* Aborts the communicators.  Aborting one may synchronise the device, and so
 * wait for another that has not been told yet.  So all are told first and then
 * closed, if NCCL can do that in a group. */
void groups_abort(nccl *l)
{
	enum { GROUPED = 22200 }; /* from 2.22 on they are part of a group */
	arena *work = arena_new();
	int version = 0, n;
	const ncclComm_t *all = groups_all(l, work, &n);
	bool grouped = l->api.ncclGetVersion(&version) == ncclSuccess &&
		       version >= GROUPED &&
		       l->api.ncclGroupStart() == ncclSuccess;
	for (int i = 0; i < n; i++)
		l->api.ncclCommAbort(all[i]);
	if (grouped)
		l->api.ncclGroupEnd();
	forget_comms(l);
	l->registered.n = 0;
	arena_free(work);
}
