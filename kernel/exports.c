// SPDX-License-Identifier: GPL-2.0
/* What the modules use of the cores, all of them in mayfly_common. */
#include <linux/export.h>

#include "core/connections.h"
#include "core/early_discard.h"
#include "core/estmred.h"
#include "core/least_attained.h"
#include "core/two_class.h"

EXPORT_SYMBOL_GPL(mf_connections_free);
EXPORT_SYMBOL_GPL(mf_connections_reset);
EXPORT_SYMBOL_GPL(mf_limit_pkts);
EXPORT_SYMBOL_GPL(mf_efd_init);
EXPORT_SYMBOL_GPL(mf_efd_free);
EXPORT_SYMBOL_GPL(mf_efd_reset);
EXPORT_SYMBOL_GPL(mf_efd_spare_init);
EXPORT_SYMBOL_GPL(mf_efd_spare_free);
EXPORT_SYMBOL_GPL(mf_efd_change);
EXPORT_SYMBOL_GPL(mf_efd_enqueue);
EXPORT_SYMBOL_GPL(mf_efd_dequeue);
EXPORT_SYMBOL_GPL(mf_efd_peek);
EXPORT_SYMBOL_GPL(mf_estmred_init);
EXPORT_SYMBOL_GPL(mf_estmred_free);
EXPORT_SYMBOL_GPL(mf_estmred_reset);
EXPORT_SYMBOL_GPL(mf_estmred_spare_init);
EXPORT_SYMBOL_GPL(mf_estmred_spare_free);
EXPORT_SYMBOL_GPL(mf_estmred_change);
EXPORT_SYMBOL_GPL(mf_estmred_enqueue);
EXPORT_SYMBOL_GPL(mf_estmred_dequeue);
EXPORT_SYMBOL_GPL(mf_estmred_peek);
EXPORT_SYMBOL_GPL(mf_watch_tell);
EXPORT_SYMBOL_GPL(mf_las_init);
EXPORT_SYMBOL_GPL(mf_las_free);
EXPORT_SYMBOL_GPL(mf_las_reset);
EXPORT_SYMBOL_GPL(mf_las_spare_init);
EXPORT_SYMBOL_GPL(mf_las_spare_free);
EXPORT_SYMBOL_GPL(mf_las_change);
EXPORT_SYMBOL_GPL(mf_las_enqueue);
EXPORT_SYMBOL_GPL(mf_las_dequeue);
EXPORT_SYMBOL_GPL(mf_las_peek);
EXPORT_SYMBOL_GPL(mf_run2c_init);
EXPORT_SYMBOL_GPL(mf_run2c_free);
EXPORT_SYMBOL_GPL(mf_run2c_reset);
EXPORT_SYMBOL_GPL(mf_run2c_spare_init);
EXPORT_SYMBOL_GPL(mf_run2c_spare_free);
EXPORT_SYMBOL_GPL(mf_run2c_change);
EXPORT_SYMBOL_GPL(mf_run2c_enqueue);
EXPORT_SYMBOL_GPL(mf_run2c_dequeue);
EXPORT_SYMBOL_GPL(mf_run2c_peek);
